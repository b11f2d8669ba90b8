// Perplexity of a model on token shards or text.
#include <algorithm>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "eval/perplexity.h"
#include "eval/rolling.h"
#include "input_options.h"
#include "kernels/registry.h"
#include "ppl_options.h"

namespace {

using namespace bam;

eval::PerplexityOptions evaluation_options(const PplOptions& o, const LoadedModel& loaded) {
  eval::PerplexityOptions options;
  options.rule.context = eval::tokens_of(o.context, loaded, "--context");
  if (o.stride) options.rule.stride = eval::tokens_of(*o.stride, loaded, "--stride");
  if (options.rule.stride > options.rule.context) {
    throw UsageError("--stride: " + std::to_string(options.rule.stride) +
                     " would leave tokens out, expected at most the --context of " +
                     std::to_string(options.rule.context));
  }
  options.bin = o.bin ? eval::tokens_of(*o.bin, loaded, "--bin") : (options.rule.context + 7) / 8;
  options.chunk = o.computation.chunk;
  options.share = o.items.share;
  options.keeps_items = o.items.per_item;
  return options;
}

std::vector<io::Column> shown(std::vector<io::Column> columns, bool with_times) {
  if (!with_times) columns.pop_back();
  return columns;
}

void merge(const PplOptions& o, io::OutputFile& output) {
  static const std::vector<io::Column> columns =
      o.rolling ? eval::rolling_item_columns() : eval::perplexity_item_columns();
  const std::vector<eval::ItemRow> rows = o.items.merged_rows(o.model, o.files, columns, {"bytes", "stride"});
  const bool with_times = !o.table.no_times && have_seconds(rows);
  io::TableWriter table(output, o.table.format,
                        o.rolling ? shown(eval::rolling_columns(), with_times) : eval::perplexity_columns(with_times),
                        !o.table.no_header);
  (o.rolling ? eval::write_rolling : eval::merge_perplexity)(table, rows, with_times);
}

void refuse_idle_options(const PplOptions& o, const cli::Context& context) {
  cli::refuse_idle(*context.options,
                   {{.applies = o.items.merge,
                     .why = "with --merge",
                     .options = {"context", "bin", "stride", "max-tokens"},
                     .groups = {"Input", "Computation"}},
                    {.applies = o.rolling,
                     .why = "with --rolling, which has windows of its own",
                     .options = {"stride", "bin", "max-tokens"}},
                    {.applies = o.stride.has_value(), .why = "with --stride, which scores no bins", .options = {"bin"}},
                    idle_field(o.input)});
  if (o.rolling && !eval::uses_bos(o.bos)) {
    throw UsageError("--bos: with --rolling the first token of a document is scored after BOS, expected auto or yes");
  }
}

void roll(const PplOptions& o, const LoadedModel& loaded, const eval::RunStamp& stamp,
          const std::vector<std::string>& files, io::OutputFile& output) {
  const eval::RollingOptions options{.context = eval::tokens_of(o.context, loaded, "--context"),
                                     .chunk = o.computation.chunk,
                                     .memory_bytes = o.computation.memory_bytes(),
                                     .share = o.items.share,
                                     .input = o.input};
  const eval::RollingRun run{options.context, stamp};
  const bool with_times = !o.table.no_times;
  cli::Progress progress({.unit = "documents", .rate_unit = "tokens"});
  std::vector<eval::ItemRow> rows;
  Index tokens = 0;
  o.computation.report(eval::evaluate_rolling(loaded, files, options, [&](const eval::RollingDocument& document) {
    rows.push_back(eval::rolling_item_row(document, run, with_times));
    tokens += document.tokens;
    progress.update(std::ssize(rows), tokens);
  }));
  progress.clear();
  if (rows.empty()) log::info("--task: no document is in this share");
  if (tokens == 0 && o.items.share.is_whole())
    throw Error(io::input_name(files.front()) + ": no token in its documents");
  io::TableWriter table(output, o.table.format,
                        shown(o.items.per_item ? eval::rolling_item_columns() : eval::rolling_columns(), with_times),
                        !o.table.no_header);
  (o.items.per_item ? eval::write_items : eval::write_rolling)(table, rows, with_times);
}

int run(const PplOptions& o, cli::Context& context) {
  refuse_idle_options(o, context);
  if (o.items.merge) {
    io::OutputFile merged(o.output.path);
    merge(o, merged);
    merged.commit();
    return 0;
  }
  const std::vector<std::string> files = o.files.empty() ? std::vector<std::string>{"-"} : o.files;
  if (std::count(files.begin(), files.end(), "-") + (o.model == "-") > 1) {
    throw UsageError("-: standard input can be read once, expected a model or data there");
  }
  io::OutputFile output(o.output.path);
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model, *backend);
  if (o.rolling) {
    log::info(loaded.name + " on " + backend->describe());
    roll(o, loaded, o.computation.stamp(context, loaded, *backend), files, output);
    output.commit();
    return 0;
  }
  const eval::PerplexityOptions options = evaluation_options(o, loaded);
  eval::TokenSource source(loaded, {files, o.input, o.bos, o.max_tokens});
  log::info(loaded.name + " on " + backend->describe());

  cli::Progress progress({.unit = "tokens"});
  const eval::PerplexityResult result = eval::evaluate_perplexity(loaded, source, options, o.computation.memory_bytes(),
                                                                  [&](Index done) { progress.update(done); });
  progress.clear();
  o.computation.report(result.skipped);
  if (result.all.nll_nats.count() == 0) log::info("--task: " + source.name() + " has no window in this share");
  if (result.left_out > 0) {
    log::info(std::to_string(result.left_out) + " tokens behind the last full window are left out");
  }
  eval::PerplexityRun run{.options = options,
                          .bos = eval::uses_bos(o.bos) ? "yes" : "no",
                          .stamp = o.computation.stamp(context, loaded, *backend),
                          .seconds = {}};
  if (!o.table.no_times) run.seconds = progress.elapsed_s();
  const bool with_times = !o.table.no_times;
  if (o.items.per_item) {
    io::TableWriter table(output, o.table.format, shown(eval::perplexity_item_columns(), with_times),
                          !o.table.no_header);
    eval::write_items(table, eval::perplexity_item_rows(result, run), with_times);
  } else {
    io::TableWriter table(output, o.table.format, eval::perplexity_columns(with_times), !o.table.no_header);
    eval::write_perplexity(table, result, run);
  }
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<PplOptions>(
      {.name = "bam-ppl",
       .purpose = "how well a model predicts a text, by position",
       .examples = {{"bam-ppl model.h5 held.tok.zst", "In windows of the training context, eight bins and a total."},
                    {"bam-ppl --context 8x --bin 1x model.h5 held.tok.zst",
                     "Beyond it: a row for each training context."},
                    {"bam-ppl --stride 256 --context 512 model.h5 book.txt",
                     "One number for a text, every token with at least 256 before it."},
                    {"bam-ppl --rolling --context 512 --input lines model.h5 pages.txt",
                     "By word and by byte, each line a document."},
                    {"bam-train train.tok.zst -o - | bam-ppl - held.tok.zst", "Straight out of training."}}},
      run, argc, argv);
}
