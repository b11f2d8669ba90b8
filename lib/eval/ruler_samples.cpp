#include "eval/ruler_samples.h"

#include "base/error.h"
#include "eval/python_text.h"
#include "eval/ruler_sizing.h"

namespace bam::eval {
namespace {

// At the smallest size RULER draws for ever. A length at which one draw in a thousand fits is of no use.
constexpr Index kMostTries = 1000;

}  // namespace

std::string join(const std::vector<std::string>& pieces, std::string_view between) {
  std::string out;
  for (const std::string& piece : pieces) {
    if (&piece != &pieces.front()) out += between;
    out += piece;
  }
  return out;
}

std::string RulerSample::json_line() const {
  std::vector<std::string> quoted;
  for (const std::string& output : outputs) quoted.push_back(ascii_json(output));
  const std::string tokens = std::to_string(length);
  std::string line = "{\"index\": " + std::to_string(index) + ", \"input\": " + ascii_json(input) + ", \"outputs\": [" +
                     join(quoted, ", ") + "], \"length\": " + tokens + ", \"length_w_model_temp\": " + tokens +
                     ", \"answer_prefix\": " + ascii_json(answer_prefix);
  if (answer_token) line += ", \"token_position_answer\": " + std::to_string(*answer_token);
  return line + "}";
}

Index SizedGenerator::search(const Drawing& draw, Index step, Index most, Index budget) const {
  Index low = step;
  Index high = std::max(most, 2 * step);
  Index found = step;
  while (low <= high) {
    const Index middle = (low + high) / 2;
    if (tokens(draw(middle).text) <= budget) {
      found = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found;
}

Index SizedGenerator::likely_most(const Drawing& draw, Index step, Index budget) const {
  const double tokens_each = static_cast<double>(tokens(draw(step).text)) / static_cast<double>(step);
  return static_cast<Index>(static_cast<double>(budget) / tokens_each * 3);
}

RulerDraft SizedGenerator::fitting(const Drawing& draw, Index size, Index step, Index budget) const {
  std::string failure;
  for (Index tries = 0; tries < kMostTries;) {
    try {
      RulerDraft drawn = draw(size);
      const Index length = tokens(drawn.text);
      if (length <= budget) return drawn;
      failure = "the last took " + std::to_string(length) + " tokens of " + std::to_string(budget);
    } catch (const DraftFailure& error) {
      failure = error.what();
    }
    if (size > step) {
      size -= step;
    } else {
      ++tries;
    }
  }
  throw Error("--lengths: " + std::to_string(length_) + " tokens are too few for " + std::string(task_.name) + ": " +
              std::to_string(kMostTries) + " samples with the least filler did not fit (" + failure +
              "), and RULER's own generator would try for ever");
}

std::vector<Index> SizedGenerator::sample(Index size, Index count) {
  if (count < 0 || count > size) {
    throw DraftFailure("it draws " + std::to_string(count) + " of " + std::to_string(size));
  }
  return random_.sample(size, count);
}

RulerSample SizedGenerator::next() {
  const Drawing draw = [this](Index size) { return draft(size); };
  return finish(fitting(draw, size_, step_, length_ - task_.answer_tokens));
}

RulerSample SizedGenerator::finish(const RulerDraft& draft) {
  const std::size_t cut = draft.text.size() - draft.answer_prefix.size();
  return {.index = made_++,
          .input = draft.text.substr(0, cut),
          .outputs = draft.answers,
          .length = tokens(draft.text) + task_.answer_tokens,
          .answer_prefix = draft.answer_prefix,
          .answer_token = std::nullopt};
}

std::unique_ptr<RulerGenerator> make_ruler_generator(const RulerTask& task, RulerMaterial& material,
                                                     const text::Tokenizer& tokenizer, Index length,
                                                     std::uint32_t seed) {
  try {
    switch (task.kind) {
      case RulerKind::needles:
        return make_needles(task, material, tokenizer, length, seed);
      case RulerKind::variables:
        return make_variables(task, tokenizer, length, seed);
      case RulerKind::common_words:
        return make_common_words(task, material, tokenizer, length, seed);
      case RulerKind::frequent_words:
        return make_frequent_words(task, tokenizer, length, seed);
      case RulerKind::questions:
        return make_questions(task, material, tokenizer, length, seed);
    }
  } catch (const DraftFailure& failure) {
    throw Error("--seed: " + std::to_string(seed) + " gives no samples of " + std::string(task.name) + " at " +
                std::to_string(length) + " tokens: " + failure.what() +
                ", and RULER's own generator ends with an error; expected another seed");
  }
  return nullptr;
}

}  // namespace bam::eval
