// What heads attend to on a text or a passkey prompt.
#include <algorithm>

#include "base/log.h"
#include "base/selection.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/attention_table.h"
#include "eval/passkey_prompts.h"
#include "eval/token_source.h"
#include "input_options.h"
#include "kernels/registry.h"

namespace {

using namespace bam;

constexpr Index kBlockTokens = 65536;  // read from a file at a time

struct AttnOptions {
  std::string model;
  std::vector<std::string> files;
  Selection layers = {{}};
  Selection heads = {{}};
  Selection queries = {{-1, -1, 1}};
  eval::AttentionView view;
  std::optional<Length> max_tokens;
  eval::BosUse bos = eval::BosUse::automatic;
  text::InputOptions input;
  std::optional<Length> passkey;
  eval::PasskeyTask task;
  Index sample = 0;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0,
                     "A text or token shards, plain or .zst or .gz; none or - is standard input.");
    const auto by = eval::attention_by_names();
    options.group("Table")
        .add("by", view.by, cli::choice<eval::AttentionBy>({by.begin(), by.end()}),
             "Rows by key, by distance (means over the queries), or the keys with most attention.")
        .add("layer", layers, places_type(), "Layers, from 0: all, N, N..M or N..M/STEP; -1 is the last.")
        .add("head", heads, places_type(), "Heads, likewise.")
        .add("query", queries, places_type(),
             "Tokens whose attention is told, likewise; the last one of a passkey prompt is where the key is asked.")
        .add("bin", view.bin, cli::or_word(cli::count(), "auto", 0), "TOKENS",
             "Keys or distances in a row; auto makes at most 512 rows of keys, and bins that grow with the distance.")
        .add("top", view.top, cli::count(), "N", "Keys of a query with --by top.");
    declare_input(options);
    computation.declare(options);
    output.declare(options);
    table.declare(options);
  }

 private:
  static cli::ValueType<Selection> places_type() {
    return cli::list(cli::ValueType<PlaceRange>{
        .metavar = "PLACES", .parse = parse_places, .format = format_places, .words = {"all"}});
  }

  void declare_input(cli::OptionTable& options) {
    options.group("Input")
        .add("max-tokens", max_tokens, cli::optional(cli::length(), "all"), "TOKENS",
             "Read no more than the first so many tokens.")
        .add("bos", bos, bos_type(), "Whether documents begin with BOS, as in training; auto does.")
        .add("input", input.format,
             cli::choice<text::InputFormat>({{"auto", text::InputFormat::automatic},
                                             {"text", text::InputFormat::text},
                                             {"lines", text::InputFormat::lines},
                                             {"jsonl", text::InputFormat::jsonl}}),
             "What a document is in a file that is not a shard; auto goes by name, then content.")
        .add("field", input.field, cli::text(), "NAME", "The field of a JSON line that is the document.");
    options.group("Passkey")
        .add("passkey", passkey, cli::optional(cli::length(), "none"), "TOKENS",
             "Read a passkey prompt of this length in place of FILE; 32x is 32 training contexts.")
        .add("sample", sample, cli::integer({0, 999'999}), "I",
             "Which one: the I-th, from 0, that bam-passkey asks with the same seed and the options below.")
        .add("samples", task.samples, cli::integer({1, 1'000'000}), "N", "Prompts at each length there.")
        .add("depths", task.depths,
             cli::choice<eval::NeedleDepths>({eval::needle_depth_names().begin(), eval::needle_depth_names().end()}),
             "Where the key stands in the filler.")
        .add("digits", task.digits, cli::integer({1, 100}), "N", "Digits of the key.");
  }
};

eval::AttentionText read_text(const AttnOptions& o, const LoadedModel& loaded) {
  eval::AttentionText text;
  text.bos = eval::uses_bos(o.bos) ? "yes" : "no";
  const Index most = o.max_tokens ? eval::tokens_of(*o.max_tokens, loaded, "--max-tokens") : 0;
  eval::TokenSource source(loaded, {o.files.empty() ? std::vector<std::string>{"-"} : o.files, o.input, o.bos, most});
  for (;;) {
    const std::size_t held = text.ids.size();
    text.ids.resize(held + kBlockTokens);
    const Index got = source.read(std::span(text.ids).subspan(held));
    text.ids.resize(held + static_cast<std::size_t>(got));
    if (got == 0) break;
    eval::require_memory(*loaded.model, 1, source.tokens(), o.computation.chunk, o.computation.memory_bytes(),
                         source.name() + ": --max-tokens");
  }
  if (text.ids.empty()) throw Error(source.name() + ": no token, expected at least 1");
  return text;
}

eval::AttentionText passkey_text(const AttnOptions& o, const LoadedModel& loaded, std::uint64_t seed) {
  eval::PasskeyTask task = o.task;
  task.bos = o.bos;
  task.seed = seed;
  task.length_option = "--passkey";
  if (o.sample >= task.samples) {
    throw UsageError("--sample: " + std::to_string(o.sample) + " is not there, expected 0 to " +
                     std::to_string(task.samples - 1) + " of the " + std::to_string(task.samples) + " of --samples");
  }
  const Index length = eval::tokens_of(*o.passkey, loaded, "--passkey");
  eval::require_memory(*loaded.model, 1, length, o.computation.chunk, o.computation.memory_bytes(), "--passkey");
  const eval::PasskeyPrompts prompts(*loaded.tokenizer, task);
  eval::PasskeyPrompt prompt = prompts.make(length, o.sample);
  // Up to where the first digit is to be said; a tokenizer may have put a blank before it.
  prompt.ids.resize(static_cast<std::size_t>(prompt.first_scored));
  log::info("the key " + prompt.key + " stands in tokens " + std::to_string(prompt.needle_token) + " to " +
            std::to_string(prompt.needle_token + prompt.needle_tokens - 1) + " of " +
            std::to_string(prompt.ids.size()));
  return {std::move(prompt.ids), prompt.needle_token, prompt.needle_tokens, eval::uses_bos(o.bos) ? "yes" : "no"};
}

void check_files(const AttnOptions& o) {
  if (o.passkey && !o.files.empty()) throw UsageError("--passkey: is the text, expected no FILE");
  const auto dashes = std::count(o.files.begin(), o.files.end(), "-") + (o.files.empty() && !o.passkey ? 1 : 0);
  if (dashes + (o.model == "-") > 1) {
    throw UsageError("-: standard input can be read once, expected a model or a text there");
  }
}

void refuse_idle_options(const AttnOptions& o, const cli::Context& context) {
  const bool by_top = o.view.by == eval::AttentionBy::top;
  cli::refuse_idle(
      *context.options,
      {{.applies = !o.passkey, .why = "without --passkey", .options = {"sample", "samples", "depths", "digits"}},
       {.applies = o.passkey.has_value(), .why = "with --passkey", .options = {"max-tokens", "input", "field"}},
       {.applies = !by_top, .why = "without --by top", .options = {"top"}},
       {.applies = by_top, .why = "with --by top", .options = {"bin"}},
       idle_field(o.input)});
}

int run(const AttnOptions& o, cli::Context& context) {
  refuse_idle_options(o, context);
  check_files(o);
  io::OutputFile output(o.output.path);
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model, *backend);
  const ModelConfig& config = loaded.model->config();
  eval::AttentionView view = o.view;
  view.layers = chosen_places(o.layers, config.layers, "--layer", "layers");
  view.heads = chosen_places(o.heads, config.heads, "--head", "heads");
  const eval::AttentionText text = o.passkey ? passkey_text(o, loaded, context.seed) : read_text(o, loaded);
  view.queries = chosen_places(o.queries, std::ssize(text.ids), "--query", "tokens");
  log::info(loaded.name + " on " + backend->describe());

  const eval::RunStamp stamp = o.computation.stamp(context, loaded, *backend);
  eval::AttentionProbe probe(loaded, std::ssize(text.ids), o.computation.chunk);
  probe.choose(view.layers, view.heads);
  io::TableWriter rows(output, o.table.format, eval::attention_columns(view.by, !o.table.no_times), !o.table.no_header);
  eval::AttentionTable table(rows, text, *loaded.tokenizer, view, stamp, !o.table.no_times);
  const auto all = std::ssize(view.layers) * std::ssize(view.heads) * std::ssize(view.queries);
  cli::Progress progress({.total = all, .unit = "rows of attention"});
  Index done = 0;
  probe.read(text.ids, view.queries, [&](const eval::AttentionRow& row) {
    table.add(row);
    progress.update(++done);
  });
  progress.clear();
  table.end();
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<AttnOptions>(
      {.name = "bam-attn",
       .purpose = "what heads attend to on a text or a passkey prompt",
       .examples = {{"bam-attn --by top model.h5 held.txt", "What the last token of a text looks at, head by head."},
                    {"bam-attn --passkey 64x --depths random model.h5 > keys.tsv",
                     "Where the key is asked: attention along the prompt."},
                    {"bam-attn --by distance --query 0..-1/16 --max-tokens 4x model.h5 held.tok.zst",
                     "How far heads look, over every 16th token."}}},
      run, argc, argv);
}
