// Multiple choice: ARC, HellaSwag, PIQA, MMLU.
#include <algorithm>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "eval/mcq.h"
#include "kernels/registry.h"
#include "mcq_options.h"

namespace {

using namespace bam;

// What lm-evaluation-harness seeds its examples with.
constexpr std::uint64_t kHarnessSeed = 1234;

struct Chosen {
  eval::McqTask task;
  eval::Share share;
};

Chosen chosen(const McqToolOptions& o) {
  std::optional<eval::McqTask> task;
  std::optional<eval::Share> share;
  for (const TaskOrShare& each : o.tasks) {
    if (each.task ? task.has_value() : share.has_value()) {
      throw UsageError("--task: given twice, expected one task and one share");
    }
    if (each.task) {
      task = each.task;
    } else {
      share = each.share;
    }
  }
  if (!task) throw UsageError("--task: missing, expected arc_easy, arc_challenge, hellaswag, piqa or mmlu");
  return {*task, share.value_or(eval::Share{})};
}

void merge(const McqToolOptions& o, io::OutputFile& output) {
  static const std::vector<io::Column> columns = eval::mcq_item_columns();
  const std::vector<eval::ItemRow> rows = o.items.merged_rows(o.model, o.files, columns);
  const bool with_times = !o.table.no_times && have_seconds(rows);
  std::vector<io::Column> shown = eval::mcq_columns();
  if (!with_times) shown.pop_back();
  io::TableWriter table(output, o.table.format, shown, !o.table.no_header);
  eval::write_mcq(table, rows, with_times);
}

void answer(const McqToolOptions& o, cli::Context& context, io::OutputFile& output) {
  const Chosen what = chosen(o);
  const std::vector<std::string> files = o.files.empty() ? std::vector<std::string>{"-"} : o.files;
  if (std::count(files.begin(), files.end(), "-") + (o.model == "-") > 1) {
    throw UsageError("-: standard input can be read once, expected a model or items there");
  }
  if (!o.labels.empty() && what.task != eval::McqTask::piqa) throw UsageError("--labels: for piqa alone");
  std::vector<eval::McqItem> items =
      eval::read_mcq_items(what.task, files, o.labels.empty() ? std::nullopt : std::optional<std::string>(o.labels));
  const bool from_items = o.shots_from.empty();
  eval::McqShots shots(what.task, o.shots, from_items ? items : eval::read_mcq_items(what.task, o.shots_from),
                       from_items, context.seed);
  if (o.limit > 0 && o.limit < std::ssize(items)) items.resize(static_cast<std::size_t>(o.limit));
  const std::vector<std::string> prompts = shots.prompts(items);

  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model, *backend);
  log::info(loaded.name + " on " + backend->describe());
  eval::McqRun run{.task = std::string(name_in(eval::mcq_task_names(), what.task)),
                   .shots = std::to_string(o.shots),
                   .bos = eval::uses_bos(o.bos) ? "yes" : "no",
                   .context = o.context == 0 ? "none" : std::to_string(o.context),
                   .stamp = o.computation.stamp(context, loaded, *backend)};
  eval::McqScorer scorer(loaded, {o.bos, o.context, o.computation.chunk, o.computation.memory_bytes()});
  std::vector<eval::ItemRow> rows;
  SkipCounts skipped;
  const auto for_each_item = [&](const auto& work) {
    for (Index i = 0; i < std::ssize(items); ++i) {
      if (!what.share.has(i / eval::kMcqBlock)) continue;
      try {
        work(i, items[static_cast<std::size_t>(i)], prompts[static_cast<std::size_t>(i)]);
      } catch (const Error& error) {
        throw Error("item " + std::to_string(i) + ": " + error.what());
      }
    }
  };
  Index count = 0;
  for_each_item([&](Index, const eval::McqItem& item, const std::string& prompt) {
    scorer.check(item, prompt);
    ++count;
  });
  cli::Progress progress({.total = count, .unit = "items"});
  for_each_item([&](Index i, const eval::McqItem& item, const std::string& prompt) {
    if (i % eval::kMcqBlock == 0) scorer.forget();
    const eval::McqAnswer answer = scorer.answer(item, prompt);
    skipped += answer.skipped;
    rows.push_back(eval::mcq_item_row(item, i, answer, run, !o.table.no_times));
    progress.update(std::ssize(rows));
  });
  progress.clear();
  o.computation.report(skipped);
  if (rows.empty()) log::info("--task: no item is in this share");
  static const std::vector<io::Column> item_columns = eval::mcq_item_columns();
  std::vector<io::Column> shown = o.items.per_item ? item_columns : eval::mcq_columns();
  if (o.table.no_times) shown.pop_back();
  io::TableWriter table(output, o.table.format, shown, !o.table.no_header);
  if (o.items.per_item) {
    eval::write_items(table, rows, !o.table.no_times);
  } else {
    eval::write_mcq(table, rows, !o.table.no_times);
  }
}

int run(const McqToolOptions& o, cli::Context& context) {
  cli::refuse_idle(*context.options,
                   {{.applies = o.items.merge, .why = "with --merge", .groups = {"Task", "Computation"}},
                    {.applies = o.shots == 0, .why = "without --shots", .options = {"shots-from"}}});
  io::OutputFile output(o.output.path);
  if (o.items.merge) {
    merge(o, output);
  } else {
    answer(o, context, output);
  }
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<McqToolOptions>(
      {.name = "bam-mcq",
       .purpose = "multiple choice: ARC, HellaSwag, PIQA and MMLU",
       .examples = {{"bam-mcq --task arc_easy model.h5 ARC-Easy-Test.jsonl", "Accuracy, by sum and by character."},
                    {"bam-mcq --task mmlu --shots 5 --shots-from dev.jsonl model.h5 test.jsonl",
                     "By subject, with five examples."},
                    {"bam-mcq --task piqa --labels valid-labels.lst model.h5 valid.jsonl", "As PIQA is published."}},
       .default_seed = kHarnessSeed},
      run, argc, argv);
}
