#include "eval/passkey.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "base/error.h"
#include "eval/shared_chunks.h"
#include "io/json.h"

namespace bam::eval {
namespace {

// One prompt after the other.
class PasskeyReader {
 public:
  PasskeyReader(const Model& model, Index capacity, const PasskeyOptions& options)
      : chunks_(model, capacity, options.chunk, options.share_prefix) {}

  PasskeyItem answer(const PasskeyPrompt& prompt, const std::function<void(Index)>& progress) {
    const double start_s = now_s();
    const std::span<const text::Token> inputs = std::span(prompt.ids).first(prompt.ids.size() - 1);
    const auto first_scored = static_cast<std::size_t>(prompt.first_scored - 1);  // the position that predicts it
    std::vector<std::int32_t> targets(inputs.size(), kNotScored);
    std::copy(prompt.ids.begin() + prompt.first_scored, prompt.ids.end(),
              targets.begin() + static_cast<std::ptrdiff_t>(first_scored));
    const std::vector<std::int32_t> first_key(inputs.size(), 0);

    chunks_.begin(inputs, static_cast<Index>(first_scored), progress);
    const auto unscored = first_scored - static_cast<std::size_t>(chunks_.reader().length());
    const Scores scores = read_rest(chunks_.reader(), inputs, first_key, targets, progress);

    PasskeyItem item{.length = prompt.length,
                     .sample = prompt.sample,
                     .real_length = prompt.prompt_tokens,
                     .depth = prompt.depth(),
                     .needle_token = prompt.needle_token,
                     .key = prompt.key,
                     .found = true,
                     .nll_nats = 0,
                     .scored = std::ssize(prompt.ids) - prompt.first_scored,
                     .read_tokens = std::ssize(inputs),
                     .skipped = chunks_.take_counts()};
    for (std::size_t i = unscored; i < scores.hit.size(); ++i) {
      item.found = item.found && scores.hit[i] == 1;
      item.nll_nats += scores.nll_nats[i];
    }
    item.seconds = now_s() - start_s;
    return item;
  }

 private:
  SharedChunks chunks_;
};

}  // namespace

void check_lengths(const Model& model, const PasskeyPrompts& prompts, const std::vector<Index>& lengths,
                   const PasskeyOptions& options) {
  for (const Index length : lengths) {
    prompts.fillers(length);
    require_memory(model, 1, length, options.chunk, options.memory_bytes, "--lengths");
  }
}

std::vector<PasskeyItem> run_passkey(const Model& model, const PasskeyPrompts& prompts, Index length,
                                     const std::vector<Index>& samples, const PasskeyOptions& options,
                                     const PasskeyProgress& progress) {
  std::vector<Index> needles;
  Index capacity = 1;
  for (const Index sample : samples) {
    const PasskeyPrompt prompt = prompts.make(length, sample);
    needles.push_back(prompt.needle);
    capacity = std::max(capacity, std::ssize(prompt.ids) - 1);
  }
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return needles[a] < needles[b]; });

  PasskeyReader reader(model, capacity, options);
  std::vector<PasskeyItem> items(samples.size());
  Index done = 0;
  for (const std::size_t i : order) {
    items[i] = reader.answer(prompts.make(length, samples[i]), [&](Index read) {
      if (progress) progress(done, read);
    });
    if (progress) progress(++done, 0);
  }
  return items;
}

std::string dump_prompt(const PasskeyPrompt& prompt, const text::Tokenizer& tokenizer) {
  const std::span<const text::Token> ids(prompt.ids);
  const auto prompt_tokens = static_cast<std::size_t>(prompt.prompt_tokens);
  const auto first_scored = static_cast<std::size_t>(prompt.first_scored);
  io::JsonWriter json;
  json.begin_object()
      .field("length", prompt.length)
      .field("sample", prompt.sample)
      .field("real_length", prompt.prompt_tokens)
      .field("fillers", prompt.fillers)
      .field("needle", prompt.needle)
      .field("needle_token", prompt.needle_token)
      .field("depth", prompt.depth())
      .field("key", prompt.key)
      .field("prompt", tokenizer.decode(ids.first(prompt_tokens)));
  const auto array = [&](std::string_view name, std::span<const text::Token> values) {
    json.key(name).begin_array();
    for (const text::Token id : values) json.value(static_cast<std::int64_t>(id));
    json.end_array();
  };
  array("prompt_ids", ids.first(prompt_tokens));
  array("given_ids", ids.subspan(prompt_tokens, first_scored - prompt_tokens));
  array("scored_ids", ids.subspan(first_scored));
  return json.end_object().text();
}

}  // namespace bam::eval
