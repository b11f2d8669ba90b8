#include "eval/ruler.h"

#include <simdjson.h>

#include <algorithm>
#include <numeric>

#include "base/byte_order_mark.h"
#include "base/clock.h"
#include "base/error.h"
#include "eval/generate.h"
#include "eval/python_text.h"
#include "eval/ruler_metric.h"
#include "eval/shared_chunks.h"
#include "io/stream.h"

namespace bam::eval {
namespace {

constexpr Index kMostDataBytes = Index{8} << 30;

std::vector<text::Token> checked_ids(const text::Tokenizer& tokenizer, const std::string& text, BosUse bos,
                                     const std::string& subject) {
  std::vector<text::Token> ids;
  if (uses_bos(bos)) ids.push_back(tokenizer.bos_id());
  const std::vector<text::Token> rest = tokenizer.encode(text);
  ids.insert(ids.end(), rest.begin(), rest.end());
  if (ids.empty()) throw Error(subject + ": a prompt without text");
  return ids;
}

class Asker {
 public:
  Asker(const LoadedModel& loaded, const RulerTask& task, Index capacity, const RulerOptions& options)
      : loaded_(loaded), task_(task), chunks_(*loaded.model, capacity, options.chunk, options.share_prefix) {}

  RulerItem ask(const RulerPrompt& prompt, const std::vector<text::Token>& ids) {
    const double start_s = now_s();
    RulerItem item{.sample = prompt.sample,
                   .real_length = std::ssize(ids),
                   .depth = prompt.depth,
                   .prediction = {},
                   .outputs = prompt.outputs};
    // The last token is read again even where it is shared: its logits are not kept.
    chunks_.begin(ids, std::ssize(ids) - 1);
    Reader& reader = chunks_.reader();
    item.read = std::ssize(ids);
    std::vector<double> logits = reader.next_logits(std::span(ids).subspan(static_cast<std::size_t>(reader.length())));
    std::vector<text::Token> written;
    const text::Tokenizer& tokenizer = *loaded_.tokenizer;
    Sampler sampler({});
    while (std::ssize(written) < task_.answer_tokens && item.score < 1) {
      const text::Token id = sampler.choose(logits);
      if (id == tokenizer.eos_id() || id == tokenizer.bos_id()) break;
      written.push_back(id);
      item.prediction = tokenizer.decode(written);
      item.score = ruler_score(task_.match, item.prediction, prompt.outputs);
      if (std::ssize(written) < task_.answer_tokens && item.score < 1) logits = reader.next_logits(std::span(&id, 1));
    }
    item.written = std::ssize(written);
    item.skipped = chunks_.take_counts();
    item.seconds = now_s() - start_s;
    return item;
  }

 private:
  const LoadedModel& loaded_;
  const RulerTask& task_;
  SharedChunks chunks_;
};

}  // namespace

RulerPrompt prompt_of(const RulerSample& sample, Index number, const RulerTask& task) {
  RulerPrompt prompt{
      .sample = number, .text = sample.input + sample.answer_prefix, .outputs = sample.outputs, .depth = {}};
  const Index tokens = sample.length - task.answer_tokens;
  // Elsewhere the length may leave the answer out.
  if (sample.answer_token && tokens > 0 && *sample.answer_token <= tokens) {
    prompt.depth = static_cast<double>(*sample.answer_token) / static_cast<double>(tokens);
  }
  return prompt;
}

void check_prompts(const LoadedModel& loaded, const RulerTask& task, const std::vector<RulerPrompt>& prompts,
                   const RulerOptions& options, const std::string& subject) {
  Index longest = 0;
  for (const RulerPrompt& prompt : prompts) {
    longest = std::max(longest, std::ssize(checked_ids(*loaded.tokenizer, prompt.text, options.bos, subject)));
  }
  require_memory(*loaded.model, 1, longest + task.answer_tokens, options.chunk, options.memory_bytes, subject);
}

void ask_ruler(const LoadedModel& loaded, const RulerTask& task, const std::vector<RulerPrompt>& prompts,
               const RulerOptions& options, const std::string& subject,
               const std::function<void(const RulerItem&)>& done) {
  std::vector<std::vector<text::Token>> ids;
  Index capacity = 1;
  for (const RulerPrompt& prompt : prompts) {
    ids.push_back(checked_ids(*loaded.tokenizer, prompt.text, options.bos, subject));
    capacity = std::max(capacity, std::ssize(ids.back()) + task.answer_tokens);
  }
  require_memory(*loaded.model, 1, capacity, options.chunk, options.memory_bytes, subject);
  std::vector<std::size_t> order(prompts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Sorted, neighbours have the most in common.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ids[a] < ids[b]; });
  Asker asker(loaded, task, capacity, options);
  for (const std::size_t i : order) done(asker.ask(prompts[i], ids[i]));
}

namespace {

// One line of a file of RULER's; `fail` makes an Error of what is wrong with it.
RulerSample sample_of(const simdjson::dom::object& object, const std::function<Error(const std::string&)>& fail) {
  const auto given = [&](const char* name) {
    simdjson::dom::element element;
    const bool is_there = object[name].get(element) == simdjson::SUCCESS && !element.is_null();
    return is_there ? std::optional(element) : std::nullopt;
  };
  const auto text = [&](const char* name) {
    const std::optional<simdjson::dom::element> element = given(name);
    std::string_view value;
    if (element && element->get(value) != simdjson::SUCCESS) throw fail("\"" + std::string(name) + "\" is not a text");
    return std::string(value);
  };
  const auto tokens = [&](const char* name) {
    const std::optional<simdjson::dom::element> element = given(name);
    std::int64_t value = 0;
    if (element && (element->get(value) != simdjson::SUCCESS || value < 0)) {
      throw fail("\"" + std::string(name) + "\" is not a number of tokens");
    }
    return element ? std::optional<Index>(value) : std::nullopt;
  };
  RulerSample sample{.input = text("input"), .outputs = {}, .answer_prefix = text("answer_prefix"), .answer_token = {}};
  if (!given("input") || (sample.input.empty() && sample.answer_prefix.empty())) throw fail("no \"input\" of text");
  simdjson::dom::array outputs;
  if (object["outputs"].get(outputs) != simdjson::SUCCESS) throw fail("no \"outputs\"");
  for (const simdjson::dom::element output : outputs) {
    std::string_view value;
    if (output.get(value) != simdjson::SUCCESS) throw fail("\"outputs\" that are not texts");
    sample.outputs.emplace_back(value);
  }
  if (sample.outputs.empty()) throw fail("\"outputs\" without any");
  sample.length = tokens("length").value_or(0);
  sample.answer_token = tokens("token_position_answer");
  return sample;
}

}  // namespace

std::vector<RulerPrompt> read_ruler_data(const std::string& path, const RulerTask& task) {
  const std::unique_ptr<io::ByteSource> source = io::open_decompressed(path);
  const std::string bytes = io::read_all(*source, kMostDataBytes);
  std::vector<RulerPrompt> prompts;
  simdjson::dom::parser parser;
  Index line = 0;
  std::size_t begin = bytes.size() - without_byte_order_mark(bytes).size();
  while (begin < bytes.size()) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string text = bytes.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    if (strip(text).empty()) continue;
    const auto fail = [&](const std::string& what) {
      return Error(source->name() + ":" + std::to_string(line) + ": " + what +
                   ", expected a sample as RULER writes it");
    };
    simdjson::dom::object object;
    if (parser.parse(text).get(object) != simdjson::SUCCESS) throw fail("not a JSON object");
    prompts.push_back(prompt_of(sample_of(object, fail), std::ssize(prompts), task));
  }
  if (prompts.empty()) throw Error(source->name() + ": no sample, expected samples as RULER writes them");
  return prompts;
}

}  // namespace bam::eval
