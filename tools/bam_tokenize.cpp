// Text to token shards, and what else one does with shards and tokenizers at the command line.
#include <map>
#include <optional>

#include "base/log.h"
#include "base/memory.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "input_options.h"
#include "io/json.h"
#include "text/inspect.h"
#include "text/learn.h"
#include "text/shard_contents.h"
#include "text/shard_output.h"
#include "text/tokenize.h"

namespace {

using namespace bam;

struct TokenizeToolOptions {
  std::vector<std::string> files = {"-"};
  std::string tokenizer = "bytes";
  std::optional<std::string> bos_token;
  text::InputOptions input;
  text::OnError on_error = text::OnError::fail;
  bool allow_special = false;
  bool dedup = false;
  double hold_out = 0;
  std::optional<std::string> hold_out_to;
  cli::OutputOption output;
  Index shard_tokens = 100'000'000;
  Index level = 9;
  bool decode = false;
  bool info = false;
  bool validate = false;
  std::optional<std::string> leaks;
  Index learn = 0;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    using text::InputFormat;
    cli::ValueType<std::string> tokenizer_type = cli::path();
    tokenizer_type.metavar = "bytes|FILE";
    tokenizer_type.words = {"bytes"};
    options.operands(files, cli::path(), "FILE", 0,
                     "Text, plain or .zst or .gz, or shards; none or - is standard input.");
    options.group("Input")
        .add("tokenizer", tokenizer, tokenizer_type,
             "The tokenizer: bytes (256 ids and BOS), or a file: SentencePiece .model, tokenizer.json, tiktoken ranks, "
             "or GPT-2's vocab.json beside its merges.txt.")
        .add("bos-token", bos_token, cli::optional(cli::text(), "none"), "TOKEN",
             "The special token of the tokenizer that begins a document, in place of its own BOS or an added one.")
        .flag("allow-special", allow_special, "The text of a special token is that token, not plain text.")
        .add("input", input.format,
             cli::choice<InputFormat>({{"auto", InputFormat::automatic},
                                       {"text", InputFormat::text},
                                       {"lines", InputFormat::lines},
                                       {"jsonl", InputFormat::jsonl}}),
             "What a document is: a whole file, a line, or a field of a JSON line; auto goes by name, then content.")
        .add("field", input.field, cli::text(), "NAME", "The field of a JSON line that is the document.")
        .add("on-error", on_error,
             cli::choice<text::OnError>({{"fail", text::OnError::fail}, {"skip", text::OnError::skip}}),
             "What a record does that is not valid: end the run, or be counted and left out.")
        .flag("dedup", dedup, "Of documents with the same text keep the first.");
    output.declare(options, "The shard to write; a folder (DIR/) takes as many as --shard-tokens makes.");
    options.group("Output")
        .add("shard-tokens", shard_tokens, cli::count(), "TOKENS",
             "In a folder, a shard ends with the document that reaches this many tokens.")
        .add("level", level, cli::integer({1, 19}), "N", "The zstd level.")
        .add("hold-out", hold_out, cli::real(cli::between(0, 1)), "SHARE",
             "Write this share of the documents, chosen by the hash of their text, to --hold-out-to instead.")
        .add("hold-out-to", hold_out_to, cli::optional(cli::path(cli::PathUse::output), "none"), "FILE",
             "The shard that takes the documents that are held out.");
    options.group("Instead of tokenizing")
        .flag("decode", decode, "Write the text of shards; --input names its form.")
        .flag("info", info, "Write a row about each shard.")
        .flag("validate", validate, "Check every byte of each shard, and write a row about it.")
        .add("leaks", leaks, cli::optional(cli::path(), "none"), "SHARD",
             "Count documents of the other shards that are in this one, which was held out.")
        .add("learn", learn, cli::or_word(cli::integer({1, 10'000'000}), "no", 0), "N",
             "Learn a SentencePiece BPE model with N pieces from text.");
    table.declare(options);
  }
};

enum class Mode { tokenize, decode, info, validate, leaks, learn };

Mode mode_of(const TokenizeToolOptions& o) {
  if (o.decode + o.info + o.validate + o.leaks.has_value() + (o.learn > 0) > 1) {
    throw UsageError("--decode, --info, --validate, --leaks, --learn: expected one of them");
  }
  return o.decode      ? Mode::decode
         : o.info      ? Mode::info
         : o.validate  ? Mode::validate
         : o.leaks     ? Mode::leaks
         : o.learn > 0 ? Mode::learn
                       : Mode::tokenize;
}

void refuse_idle_options(const TokenizeToolOptions& o, Mode mode, const cli::Context& context) {
  static const std::map<Mode, std::string> names = {{Mode::tokenize, "without --info, --validate or --leaks"},
                                                    {Mode::decode, "with --decode"},
                                                    {Mode::info, "with --info"},
                                                    {Mode::validate, "with --validate"},
                                                    {Mode::leaks, "with --leaks"},
                                                    {Mode::learn, "with --learn"}};
  const std::string& with = names.at(mode);
  const bool writes_table = mode == Mode::info || mode == Mode::validate || mode == Mode::leaks;
  cli::refuse_idle(*context.options,
                   {{.applies = mode != Mode::tokenize,
                     .why = with,
                     .options = {"tokenizer", "bos-token", "allow-special", "dedup", "shard-tokens", "level",
                                 "hold-out", "hold-out-to"}},
                    {.applies = mode != Mode::tokenize && mode != Mode::learn, .why = with, .options = {"on-error"}},
                    {.applies = writes_table, .why = with, .options = {"input", "field"}},
                    {.applies = !writes_table, .why = with, .options = {"format", "no-header"}},
                    {.applies = !text::ShardOutput::is_folder(o.output.path),
                     .why = "without a folder, expected -o DIR/",
                     .options = {"shard-tokens"}},
                    idle_field(o.input)});
}

// What a run that goes on in a folder of shards must have in common with the one that began there.
std::string describe_options(const TokenizeToolOptions& o, const text::Tokenizer& tokenizer) {
  io::JsonWriter json;
  json.begin_object().field("tokenizer", tokenizer.name()).field("kind", tokenizer.kind());
  json.field("sha256", tokenizer.sha256()).field("bos_id", Index{tokenizer.bos_id()});
  json.field("allow_special", o.allow_special).field("input", static_cast<int>(o.input.format));
  json.field("field", o.input.field).field("on_error", static_cast<int>(o.on_error)).field("dedup", o.dedup);
  json.field("hold_out", o.hold_out).field("shard_tokens", o.shard_tokens).field("level", o.level);
  return json.end_object().text();
}

// A run that is done already: is its input still what it was, and what it held out there?
void require_same_run(const TokenizeToolOptions& o, const text::Tokenizer& tokenizer, const text::ShardOutput& output,
                      text::TokenizeOptions how) {
  if (!output.journal().has_unchanged_files()) {
    how.only_compares = true;
    text::tokenize_files(o.files, tokenizer, how, {});
  }
  if (o.hold_out_to) text::require_held_out(*o.hold_out_to, o.output.path, output.journal().held_out_sha256());
}

int tokenize(const TokenizeToolOptions& o, const cli::Context& context) {
  if ((o.hold_out > 0) != o.hold_out_to.has_value()) {
    throw UsageError("--hold-out, --hold-out-to: expected both or neither");
  }
  if (o.hold_out_to && text::ShardOutput::is_folder(*o.hold_out_to)) {
    throw UsageError("--hold-out-to: " + *o.hold_out_to + " is a folder, expected a file");
  }
  if (o.hold_out_to && text::ShardOutput::is_in_folder(*o.hold_out_to, o.output.path)) {
    throw UsageError("--hold-out-to: " + *o.hold_out_to + " is among the shards in " + o.output.path +
                     ", expected another folder");
  }
  const auto tokenizer = text::open_tokenizer(o.tokenizer, o.bos_token.value_or(""), o.allow_special);
  text::ShardOutput::Options options;
  options.writer = {static_cast<int>(o.level), context.threads};
  options.shard_tokens = o.shard_tokens;
  std::optional<text::ShardOutput> held_out;
  options.may_be_empty = true;
  if (o.hold_out_to) held_out.emplace(*o.hold_out_to, *tokenizer, options);
  options.may_be_empty = false;
  options.run = text::ShardJournal::describe(describe_options(o, *tokenizer), o.files);
  text::ShardOutput output(o.output.path, *tokenizer, options);
  if (output.single_file() != nullptr) cli::require_not_terminal(*output.single_file());
  text::TokenizeOptions how{.input = o.input,
                            .on_error = o.on_error,
                            .threads = context.threads,
                            .drop_duplicates = o.dedup,
                            .held_out_share = o.hold_out,
                            .held_out = {},
                            .before = output.before(),
                            .before_from = o.output.path};
  if (output.was_finished()) {
    require_same_run(o, *tokenizer, output, how);
    log::info(o.output.path + ": finished before, nothing is left to do");
    return 0;
  }
  if (output.before().tokens > 0) {
    log::info(o.output.path + ": goes on behind " + std::to_string(output.before().documents) + " documents");
  }

  cli::Progress progress({.total = text::bytes_to_read(o.files), .unit = "bytes"});
  how.held_out = [&](std::span<const text::Token> ids, bool ends, const text::TokenizeTotals& so_far) {
    held_out->append(ids, ends, so_far);
  };
  const text::TokenizeTotals totals = text::tokenize_files(
      o.files, *tokenizer, how,
      [&](std::span<const text::Token> ids, bool ends, const text::TokenizeTotals& so_far) {
        output.append(ids, ends, so_far);
      },
      [&](const text::TokenizeTotals& so_far) { progress.update(so_far.read_bytes); });
  progress.clear();
  text::require_documents(totals);  // else nothing appears, what was held out neither
  std::string held_out_sha256;
  if (held_out) held_out_sha256 = held_out->finish(totals).front().totals.sha256;
  output.finish(totals, held_out_sha256);
  text::report(totals, progress.elapsed_s(), held_out.has_value());
  return 0;
}

int run(const TokenizeToolOptions& o, cli::Context& context) {
  give_back_large_blocks();
  const Mode mode = mode_of(o);
  refuse_idle_options(o, mode, context);
  if (mode == Mode::tokenize) return tokenize(o, context);
  io::OutputFile output(o.output.path);
  if (mode == Mode::learn) {
    cli::require_not_terminal(output);
    output.write(
        text::learn_sentencepiece(o.files, {o.learn, o.input, o.on_error, log::level() == log::Level::verbose}));
  } else if (mode == Mode::decode) {
    cli::Progress progress({.unit = "tokens"});
    text::decode_shards(o.files, o.input, output, [&](Index done) { progress.update(done); });
  } else if (mode == Mode::leaks) {
    text::write_leaks(*o.leaks, o.files, output, o.table.format, !o.table.no_header);
  } else {
    text::write_summaries(o.files, mode == Mode::validate, output, o.table.format, !o.table.no_header);
  }
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<TokenizeToolOptions>(
      {.name = "bam-tokenize",
       .purpose = "text to token shards, and back",
       .examples = {{"bam-tokenize book.txt -o book.tok.zst", "One text is one document; its bytes are the ids."},
                    {"bam-tokenize --tokenizer mistral.model web.jsonl.zst -o shards/",
                     "A document from each line, in shards of 100 million tokens."},
                    {"bam-tokenize --info --format jsonl shards/*.tok.zst", "What is in them."},
                    {"bam-tokenize --learn 4096 book.txt -o book.model", "A tokenizer for texts like this one."}}},
      run, argc, argv);
}
