#include "eval/passkey_prompts.h"

#include "base/error.h"
#include "base/rng.h"
#include "eval/passkey_wording.h"

namespace bam::eval {
namespace {

void append(std::vector<text::Token>& ids, const std::vector<text::Token>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

std::string draw_key(Rng& rng, Index digits) {
  std::string key(1, static_cast<char>('1' + rng.below(9)));
  while (static_cast<Index>(key.size()) < digits) key += static_cast<char>('0' + rng.below(10));
  return key;
}

Index draw_needle(Rng& rng, const PasskeyTask& task, Index sample, Index fillers) {
  switch (task.depths) {
    case NeedleDepths::equidistant:
      return task.samples == 1 ? 0 : sample * fillers / (task.samples - 1);
    case NeedleDepths::random:
      return static_cast<Index>(rng.below(static_cast<std::uint64_t>(fillers) + 1));
    case NeedleDepths::beginning:
      return 0;
    case NeedleDepths::end:
      return fillers;
  }
  return 0;
}

}  // namespace

const NameTable<NeedleDepths>& needle_depth_names() {
  static const NameTable<NeedleDepths> names = {{"equidistant", NeedleDepths::equidistant},
                                                {"random", NeedleDepths::random},
                                                {"beginning", NeedleDepths::beginning},
                                                {"end", NeedleDepths::end}};
  return names;
}

PasskeyPrompts::PasskeyPrompts(const text::Tokenizer& tokenizer, const PasskeyTask& task)
    : tokenizer_(tokenizer), task_(task), adds_blank_(true) {
  std::vector<text::Token> two = tokenizer.encode("a");
  append(two, tokenizer.encode("a"));
  adds_blank_ = tokenizer.decode(two) == "a a";
  description_ = encode(std::string(kPasskeyDescription), true);
  filler_ = encode(std::string(kPasskeyFiller));
  question_ = encode(std::string(kPasskeyQuestion));
  const std::string nines(static_cast<std::size_t>(task.prefix_digits + task.digits), '9');
  fixed_tokens_ = (uses_bos(task.bos) ? 1 : 0) + std::ssize(description_) + std::ssize(information_line(nines)) +
                  std::ssize(question_);
}

std::vector<text::Token> PasskeyPrompts::encode(const std::string& piece, bool first) const {
  return tokenizer_.encode(first || adds_blank_ ? piece : " " + piece);
}

std::vector<text::Token> PasskeyPrompts::information_line(const std::string& key) const {
  return encode(passkey_line(key));
}

Index PasskeyPrompts::fillers(Index length) const {
  if (length < fixed_tokens_) {
    throw UsageError(task_.length_option + ": " + std::to_string(length) +
                     " tokens are too few, expected at least the " + std::to_string(fixed_tokens_) +
                     " of the task without filler");
  }
  return (length - fixed_tokens_) / std::ssize(filler_);
}

Index PasskeyPrompts::scored_tokens(const std::vector<text::Token>& answer) const {
  const std::string whole = tokenizer_.decode(answer);
  const auto given = static_cast<Index>(whole.size()) - task_.digits;
  std::vector<text::Token> front = answer;
  while (!front.empty() && static_cast<Index>(tokenizer_.decode(front).size()) > given) front.pop_back();
  return std::ssize(answer) - std::ssize(front);
}

PasskeyPrompt PasskeyPrompts::make(Index length, Index sample) const {
  PasskeyPrompt prompt{.length = length, .sample = sample, .fillers = fillers(length), .key = {}, .ids = {}};
  Rng rng(task_.seed, mix64(static_cast<std::uint64_t>(length)) + static_cast<std::uint64_t>(sample));
  prompt.key = draw_key(rng, task_.prefix_digits + task_.digits);
  prompt.needle = draw_needle(rng, task_, sample, prompt.fillers);

  std::vector<text::Token>& ids = prompt.ids;
  if (uses_bos(task_.bos)) ids.push_back(tokenizer_.bos_id());
  append(ids, description_);
  for (Index i = 0; i < prompt.needle; ++i) append(ids, filler_);
  prompt.needle_token = std::ssize(ids);
  append(ids, information_line(prompt.key));
  prompt.needle_tokens = std::ssize(ids) - prompt.needle_token;
  for (Index i = prompt.needle; i < prompt.fillers; ++i) append(ids, filler_);
  append(ids, question_);
  prompt.prompt_tokens = std::ssize(ids);
  // With the blank in front even where the tokenizer adds one, as the authors ask it.
  const std::vector<text::Token> answer = tokenizer_.encode(" " + prompt.key);
  append(ids, answer);
  prompt.first_scored = std::ssize(ids) - scored_tokens(answer);
  return prompt;
}

}  // namespace bam::eval
