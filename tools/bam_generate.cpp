// Continues a prompt.
#include "base/log.h"
#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/generate.h"
#include "io/checkpoint.h"
#include "io/shard.h"
#include "kernels/registry.h"

namespace {

using namespace bam;

constexpr Index kMostPromptBytes = Index{1} << 30;

struct GenerateOptions {
  std::string model;
  std::vector<std::string> files;
  std::string prompt;
  Index max_tokens = 100;
  eval::SamplingRule rule;
  std::vector<std::string> stops;
  bool echo = false;
  eval::BosUse bos = eval::BosUse::automatic;
  ComputationOptions computation;
  cli::OutputOption output;

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0,
                     "The prompt, but for one line feed at its end; none or - is standard input.", 1);
    options.group("Prompt")
        .add("prompt", prompt, cli::or_word(cli::text(), "none", ""), "TEXT", "The prompt itself, in place of FILE.")
        .add("bos", bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.")
        .flag("echo", echo, "Write the prompt first.");
    options.group("Continuation")
        .add("max-tokens", max_tokens, cli::count(), "N", "Most tokens that are written.")
        .add("temperature", rule.temperature, cli::real(cli::between(0, 1000)), "T",
             "0 takes the most likely token each time; 1 draws as the model says, less with less risk.")
        .add("top-k", rule.top_k, cli::or_word(cli::count(), "all", 0), "N",
             "Draw from the N most likely tokens alone.")
        .add("top-p", rule.top_p, cli::real({.low = 0, .high = 1, .low_excluded = true}), "P",
             "Draw from the fewest most likely tokens that hold this share of the probability.")
        .add("stop", stops, cli::repeated(cli::text()), "TEXT", "End before this text. May be given several times.");
    computation.declare(options);
    output.declare(options, "Where the text goes; - is standard output.");
  }
};

std::string read_prompt(const GenerateOptions& o) {
  if (!o.prompt.empty()) {
    if (!o.files.empty()) throw UsageError("--prompt: does not go with a FILE");
    return o.prompt;
  }
  const std::string path = o.files.empty() ? "-" : o.files.front();
  if (path == "-" && o.model == "-") {
    throw UsageError("-: standard input can be read once, expected a model or a prompt there");
  }
  const std::unique_ptr<io::ByteSource> source = io::open_source(path);
  std::string text = io::read_all(*source, kMostPromptBytes);
  if (io::looks_like_checkpoint(text)) throw Error(source->name() + ": a checkpoint, expected text");
  if (io::looks_like_shard(text)) throw Error(source->name() + ": a token shard, expected text");
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<text::Token> prompt_ids(const GenerateOptions& o, const text::Tokenizer& tokenizer,
                                    const std::string& prompt) {
  std::vector<text::Token> ids;
  if (eval::uses_bos(o.bos)) ids.push_back(tokenizer.bos_id());
  const std::vector<text::Token> rest = tokenizer.encode(prompt);
  ids.insert(ids.end(), rest.begin(), rest.end());
  if (ids.empty()) throw Error("the prompt: empty, expected some text where --bos no leaves BOS out");
  return ids;
}

int run(const GenerateOptions& o, cli::Context& context) {
  cli::refuse_idle(*context.options, {{.applies = o.rule.temperature == 0,
                                       .why = "at --temperature 0, which takes the most likely token each time",
                                       .options = {"top-k", "top-p"}}});
  const std::string prompt = read_prompt(o);
  io::OutputFile output(o.output.path);
  const std::unique_ptr<Backend> backend = make_backend(context.device, context.threads);
  const LoadedModel loaded = o.computation.load(o.model, *backend);
  const text::Tokenizer& tokenizer = *loaded.tokenizer;
  const std::vector<text::Token> ids = prompt_ids(o, tokenizer, prompt);
  const Index capacity = std::ssize(ids) + o.max_tokens;
  eval::require_memory(*loaded.model, 1, capacity, o.computation.chunk, o.computation.memory_bytes(), "the prompt");
  log::info(loaded.name + " on " + backend->describe());
  if (o.echo) output.write(prompt);

  Reader reader(*loaded.model, 1, capacity, o.computation.chunk);
  eval::Sampler sampler(o.rule, context.seed);
  eval::TextStream stream(tokenizer, ids, o.stops);
  std::vector<double> logits = reader.next_logits(ids);
  std::string last = prompt;
  const auto show = [&](const std::string& text) {
    if (text.empty()) return;
    output.write(text);
    last = text;
  };
  for (Index i = 0; i < o.max_tokens && !stream.is_stopped(); ++i) {
    const text::Token id = sampler.choose(logits);
    if (id == tokenizer.eos_id() || id == tokenizer.bos_id()) break;
    show(stream.add(id));
    if (i + 1 < o.max_tokens) logits = reader.next_logits(std::span(&id, 1));
  }
  show(stream.end());
  o.computation.report(reader.take_counts());
  if (output.is_terminal() && !last.ends_with('\n')) output.write("\n");
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<GenerateOptions>(
      {.name = "bam-generate",
       .purpose = "continues a prompt",
       .examples = {{"bam-generate --prompt 'Call me' model.h5", "The most likely words."},
                    {"bam-generate --temperature 0.8 --top-p 0.95 --seed 3 model.h5 prompt.txt",
                     "Drawn; another seed gives another text."},
                    {"head -c 2000 book.txt | bam-generate --max-tokens 50 --stop '.' model.h5",
                     "To the end of a sentence."}}},
      run, argc, argv);
}
