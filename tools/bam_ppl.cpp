// Perplexity of a model on token shards or text.
#include <algorithm>
#include <optional>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/perplexity.h"
#include "kernels/registry.h"

namespace {

using namespace bam;

struct PplOptions {
  std::string model;
  std::vector<std::string> files;
  Length context{1, true};
  std::optional<Length> bin;
  std::optional<Length> stride;
  Index max_tokens = 0;
  eval::BosUse bos = eval::BosUse::automatic;
  text::InputOptions input;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0,
                     "Token shards, or text, plain or .zst or .gz; none or - is standard input.");
    options.group("Windows")
        .add("context", context, cli::length(2), "TOKENS", "Tokens in a window; 4x is four training contexts.")
        .add("bin", bin, cli::optional(cli::length(), "auto"), "TOKENS",
             "Tokens in a bin, each bin a row; auto makes eight bins.")
        .add("stride", stride, cli::optional(cli::length(), "none"), "TOKENS",
             "Slide a window by this many tokens and score every token once, in place of bins by position.")
        .add("max-tokens", max_tokens, cli::or_word(cli::count(2), "all", 0), "TOKENS",
             "Read no more than the first so many tokens.");
    options.group("Input")
        .add("bos", bos, bos_type(),
             "Whether documents begin with BOS, as in training (auto does); no leaves BOS and EOS out of shards too, "
             "and documents run together.")
        .add("input", input.format,
             cli::choice<text::InputFormat>({{"auto", text::InputFormat::automatic},
                                             {"text", text::InputFormat::text},
                                             {"lines", text::InputFormat::lines},
                                             {"jsonl", text::InputFormat::jsonl}}),
             "What a document is in a file that is not a shard; auto goes by name, then content.")
        .add("field", input.field, cli::text(), "NAME", "The field of a JSON line that is the document.");
    computation.declare(options);
    output.declare(options);
    table.declare(options);
  }
};

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
  return options;
}

int run(const PplOptions& o, cli::Context& context) {
  if (o.stride && o.bin) throw UsageError("--bin: does not go with --stride, which scores no bins");
  const std::vector<std::string> files = o.files.empty() ? std::vector<std::string>{"-"} : o.files;
  if (std::count(files.begin(), files.end(), "-") + (o.model == "-") > 1) {
    throw UsageError("-: standard input can be read once, expected a model or data there");
  }
  io::OutputFile output(o.output.path);
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = load_model(o.model, *backend, o.computation.dtype, o.computation.eps);
  const eval::PerplexityOptions options = evaluation_options(o, loaded);
  eval::TokenSource source(loaded, {files, o.input, o.bos, o.max_tokens});
  log::info(loaded.name + " on " + backend->describe());

  cli::Progress progress({.unit = "tokens"});
  const eval::PerplexityResult result = eval::evaluate_perplexity(loaded, source, options, o.computation.memory_bytes(),
                                                                  [&](Index done) { progress.update(done); });
  progress.clear();
  o.computation.report(result.skipped);
  if (result.left_out > 0) {
    log::info(std::to_string(result.left_out) + " tokens behind the last full window are left out");
  }
  eval::PerplexityRun run{.options = options,
                          .bos = eval::uses_bos(o.bos) ? "yes" : "no",
                          .dtype = o.computation.dtype_name(),
                          .eps = o.computation.eps,
                          .device = std::string(backend->name()),
                          .model = loaded.digest,
                          .seconds = {}};
  if (!o.table.no_times) run.seconds = progress.elapsed_s();
  io::TableWriter table(output, o.table.format, eval::perplexity_columns(!o.table.no_times), !o.table.no_header);
  eval::write_perplexity(table, result, run);
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
                    {"bam-train train.tok.zst -o - | bam-ppl - held.tok.zst", "Straight out of training."}}},
      run, argc, argv);
}
