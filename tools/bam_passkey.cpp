// The passkey task: how far a model finds a number that was hidden in a text; and documents to learn such things from.
#include <algorithm>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/passkey.h"
#include "eval/passkey_merge.h"
#include "item_options.h"
#include "kernels/registry.h"
#include "passkey_corpus_options.h"

namespace {

using namespace bam;

struct PasskeyToolOptions {
  std::vector<std::string> model;
  std::vector<Length> lengths = {{1, true}, {2, true}, {4, true}, {8, true}, {16, true}, {32, true}, {64, true}};
  eval::PasskeyTask task;
  Index patience = 0;
  bool dump = false;
  ItemOptions items;
  bool share_prefix = true;
  CorpusOptions corpus;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    options.operands(model, cli::path(), "MODEL", 0,
                     "A checkpoint; - is standard input. Not with --corpus; tables with --merge.");
    options.group("Task")
        .add("lengths", lengths, cli::list(cli::length()), "TOKENS,...",
             "Lengths of the prompt; 64x is 64 training contexts. As much filler as fits is put in.")
        .add("samples", task.samples, cli::integer({1, 1'000'000}), "N", "Prompts at each length.")
        .add("depths", task.depths,
             cli::choice<eval::NeedleDepths>({eval::needle_depth_names().begin(), eval::needle_depth_names().end()}),
             "Where the key stands in the filler.")
        .add("digits", task.digits, cli::integer({1, 100}), "N", "Digits to be found.")
        .add("prefix-digits", task.prefix_digits, cli::integer({0, 100}), "N",
             "Further digits in front of them, which are given behind the question.")
        .add("bos", task.bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.")
        .add("patience", patience, cli::or_word(cli::count(), "none", 0), "N",
             "Stop after so many lengths in a row at which no key is found.");
    computation.declare(options).flag("share-prefix", share_prefix,
                                      "Read once what the prompts of a length have in common.");
    output.declare(options);
    items.declare(options, "prompts").flag("dump", dump, "Write the prompts as JSON lines, and ask the model nothing.");
    corpus.declare(options);
    table.declare(options);
  }
};

std::vector<Index> lengths_in_tokens(const PasskeyToolOptions& o, const LoadedModel& loaded) {
  std::vector<Index> lengths;
  for (const Length& length : o.lengths) lengths.push_back(eval::tokens_of(length, loaded, "--lengths"));
  return lengths;
}

void dump(const eval::PasskeyPrompts& prompts, const LoadedModel& loaded, const std::vector<Index>& lengths,
          const eval::Share& share, io::ByteSink& sink) {
  for (const Index length : lengths) {
    for (Index sample = 0; sample < prompts.task().samples; ++sample) {
      if (!share.has(sample)) continue;
      sink.write(eval::dump_prompt(prompts.make(length, sample), *loaded.tokenizer) + "\n");
    }
  }
}

int merge(const PasskeyToolOptions& o) {
  static const std::vector<io::Column> columns = eval::passkey_item_columns(true);
  io::OutputFile output(o.output.path);
  const auto rows = o.items.merged_rows(o.model.front(), {o.model.begin() + 1, o.model.end()}, columns);
  const bool with_times = !o.table.no_times && have_seconds(rows);
  io::TableWriter table(output, o.table.format, eval::passkey_columns(with_times), !o.table.no_header);
  eval::merge_passkey(table, rows, with_times);
  output.commit();
  return 0;
}

void refuse_idle_options(const PasskeyToolOptions& o, const cli::Context& context) {
  const bool corpus = o.corpus.is_asked_for();
  cli::refuse_idle(
      *context.options,
      {{.applies = corpus,
        .why = "with --corpus",
        .options = {"format", "no-header"},
        .groups = {"Task", "Computation", "Items"}},
       {.applies = !corpus,
        .why = "without --corpus",
        .options = {"tokenizer", "max-tokens", "exact-share", "filler-text"}},
       {.applies = o.items.merge, .why = "with --merge", .options = {"dump"}, .groups = {"Task", "Computation"}},
       {.applies = o.dump,
        .why = "with --dump",
        .options = {"patience", "dtype", "eps", "window", "rope-scaling", "share-prefix", "format", "no-header"}}});
}

int run(const PasskeyToolOptions& o, cli::Context& context) {
  refuse_idle_options(o, context);
  if (o.corpus.is_asked_for()) {
    if (!o.model.empty()) throw UsageError("--corpus: asks no model, expected no MODEL");
    o.corpus.write(o.output.path, context.seed);
    return 0;
  }
  if (o.model.empty()) throw UsageError("MODEL is missing");
  if (o.items.merge) return merge(o);
  if (o.model.size() > 1) throw UsageError("'" + o.model[1] + "': expected one MODEL");
  if (o.patience > 0 && !o.items.share.is_whole()) {
    throw UsageError("--patience, --task: expected one of them, since a share does not know what the others found");
  }
  if (o.dump && o.items.per_item) throw UsageError("--dump, --per-item: expected one of them");
  eval::PasskeyTask task = o.task;
  task.seed = context.seed;
  io::OutputFile output(o.output.path);
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model.front(), *backend);
  const eval::PasskeyPrompts prompts(*loaded.tokenizer, task);
  const std::vector<Index> lengths = lengths_in_tokens(o, loaded);
  const eval::PasskeyOptions options{o.computation.chunk, o.share_prefix, o.computation.memory_bytes()};
  eval::check_lengths(*loaded.model, prompts, lengths, options);
  if (o.dump) {
    dump(prompts, loaded, lengths, o.items.share, output);
    output.commit();
    return 0;
  }
  log::info(loaded.name + " on " + backend->describe());
  const eval::PasskeyRun run{task, o.computation.stamp(context, loaded, *backend), !o.table.no_times};
  const std::vector<io::Column> columns =
      o.items.per_item ? eval::passkey_item_columns(run.with_times) : eval::passkey_columns(run.with_times);
  std::optional<io::TableWriter> table;  // not before there are rows: what fails leaves no header behind

  std::vector<Index> samples;
  for (Index sample = 0; sample < task.samples; ++sample) {
    if (o.items.share.has(sample)) samples.push_back(sample);
  }
  cli::Progress progress({.total = std::ssize(samples) * std::ssize(lengths), .unit = "prompts"});
  Index begun = 0;
  Index failed_lengths = 0;
  SkipCounts skipped;
  for (const Index length : lengths) {
    const auto items = eval::run_passkey(*loaded.model, prompts, length, samples, options, [&](Index done, Index read) {
      const std::string part = read > 0 ? ", " + std::to_string(100 * read / length) + "% of a prompt read" : "";
      progress.update(begun + done, std::to_string(length) + " tokens" + part);
    });
    begun += std::ssize(samples);
    for (const eval::PasskeyItem& item : items) skipped += item.skipped;
    progress.clear();
    if (!table) table.emplace(output, o.table.format, columns, !o.table.no_header);
    (o.items.per_item ? eval::write_passkey_items : eval::write_passkey)(*table, items, run);
    const bool any = std::any_of(items.begin(), items.end(), [](const eval::PasskeyItem& item) { return item.found; });
    failed_lengths = any ? 0 : failed_lengths + 1;
    if (o.patience == 0 || failed_lengths < o.patience) continue;
    const Index left = std::ssize(lengths) - begun / std::max<Index>(1, std::ssize(samples));
    if (left > 0) log::info("--patience: no key was found; " + std::to_string(left) + " lengths are not asked");
    break;
  }
  o.computation.report(skipped);
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<PasskeyToolOptions>(
      {.name = "bam-passkey",
       .purpose = "how far a model finds a number that was hidden in a text",
       .examples = {{"bam-passkey model.h5", "At 1 to 64 times the training context."},
                    {"bam-passkey --lengths 512,1k,32k --samples 100 --depths random model.h5",
                     "A hundred keys at three lengths."},
                    {"bam-passkey --lengths 4x --samples 1 --dump model.h5", "What is asked."},
                    {"bam-passkey --corpus 50k --tokenizer en.model --max-tokens 128 -o docs.jsonl",
                     "What a small model can learn such things from."}}},
      run, argc, argv);
}
