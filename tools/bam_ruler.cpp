// RULER: whether a model finds, follows, counts and answers in long texts.
#include <algorithm>
#include <functional>

#include "ruler_run.h"

namespace {

using namespace bam;

bool asks(const RulerToolOptions& o, const std::function<bool(const eval::RulerTask&)>& is_such) {
  return std::any_of(o.tasks.begin(), o.tasks.end(),
                     [&](Index number) { return is_such(eval::ruler_tasks()[static_cast<std::size_t>(number)]); });
}

void refuse_idle_options(const RulerToolOptions& o, const cli::Context& context) {
  const auto named = [](std::string_view name) {
    return [name](const eval::RulerTask& task) { return task.name == name; };
  };
  const auto has_needles = [](const eval::RulerTask& task) { return task.kind == eval::RulerKind::needles; };
  cli::refuse_idle(
      *context.options,
      {{.applies = o.items.merge,
        .why = "with --merge",
        .options = {"append", "dump"},
        .groups = {"Task", "Computation"}},
       {.applies = o.dump, .why = "with --dump", .options = {"bos", "format", "no-header"}, .groups = {"Computation"}},
       {.applies = !o.data.empty(),
        .why = "with --data",
        .options = {"lengths", "samples", "haystack", "words", "essay", "punkt", "squad", "hotpot"}},
       {.applies = !asks(o, has_needles), .why = "without a niah task among --tasks", .options = {"haystack"}},
       {.applies = !asks(o, named("qa_1")), .why = "without qa_1 among --tasks", .options = {"squad"}},
       {.applies = !asks(o, named("qa_2")), .why = "without qa_2 among --tasks", .options = {"hotpot"}}});
}

void check(const RulerToolOptions& o, std::uint64_t seed) {
  if (!o.files.empty()) throw UsageError(o.files.front() + ": a second file is for --merge alone");
  if (o.dump && (o.items.per_item || !o.append.empty())) {
    throw UsageError("--dump: does not go with --per-item or --append");
  }
  if (o.dump && !o.data.empty()) throw UsageError("--dump: does not go with --data, whose samples are there already");
  if (o.dump && (o.tasks.size() != 1 || o.lengths.size() != 1)) {
    throw UsageError("--dump: expected one of the --tasks and one of the --lengths, as in a file of RULER's");
  }
  if (!o.data.empty() && o.tasks.size() != 1) throw UsageError("--data: expected one of the --tasks, the file's own");
  if (seed > 0xFFFFFFFFU) {
    throw UsageError("--seed: " + std::to_string(seed) +
                     " is out of range, expected at most 4294967295, as RULER's generators take it");
  }
}

int run(const RulerToolOptions& o, cli::Context& context) {
  refuse_idle_options(o, context);
  io::OutputFile output(o.output.path);
  if (o.items.merge) {
    static const std::vector<io::Column> columns = eval::ruler_item_columns();
    const std::vector<eval::ItemRow> rows = o.items.merged_rows(o.model, o.files, columns, kRulerMayBeEmpty);
    const bool with_times = !o.table.no_times && have_seconds(rows);
    std::vector<io::Column> shown = eval::ruler_columns();
    if (!with_times) shown.pop_back();
    io::TableWriter table(output, o.table.format, shown, !o.table.no_header);
    eval::write_ruler(table, rows, with_times);
  } else {
    check(o, context.seed);
    RulerRunner runner(o, context, output);
    o.dump ? runner.dump() : runner.ask();
  }
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<RulerToolOptions>(
      {.name = "bam-ruler",
       .purpose = "whether a model finds, follows and counts in long texts",
       .examples = {{"bam-ruler --lengths 4Ki,8Ki --samples 50 model.h5", "All tasks that need no file of yours."},
                    {"bam-ruler --tasks vt,cwe --lengths 4x --words lists/ model.h5",
                     "Two of them, with RULER's own words."},
                    {"bam-ruler --tasks cwe --lengths 4096 --seed 42 --dump model.h5", "The samples, as RULER's JSON."},
                    {"bam-ruler --task 3/8 --per-item --no-header model.h5 -o 3.tsv", "An eighth, in a job array."},
                    {"bam-ruler --merge *.tsv", "The table of all eighths."}}},
      run, argc, argv);
}
