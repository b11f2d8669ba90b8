// How RULER finds out how much filler a length takes, for the generators in ruler_*.cpp.
#pragma once

#include <functional>
#include <stdexcept>

#include "base/python_random.h"
#include "eval/ruler_samples.h"

namespace bam::eval {

// A prompt as it is drawn at one size.
struct RulerDraft {
  std::string text;  // with the answer prefix at its end
  std::string answer_prefix;
  std::vector<std::string> answers;
};

// Where the Python code raises an exception.
class DraftFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SizedGenerator : public RulerGenerator {
 public:
  // Draws at the size found; a sample that comes out too long is drawn again, one step smaller, down to one step.
  RulerSample next() override;

 protected:
  using Drawing = std::function<RulerDraft(Index size)>;

  SizedGenerator(const RulerTask& task, const text::Tokenizer& tokenizer, Index length, std::uint32_t seed, Index step)
      : task_(task), tokenizer_(tokenizer), length_(length), seed_(seed), random_(seed), step_(step) {}

  Index tokens(const std::string& text) const { return std::ssize(tokenizer_.encode(text)); }

  // The largest size from `step` to `most` that a search by halves finds to fit into `budget`; `step` if none does.
  Index search(const Drawing& draw, Index step, Index most, Index budget) const;
  // Thrice what one drawing of `step` makes likely.
  Index likely_most(const Drawing& draw, Index step, Index budget) const;
  // Draws until a text fits: a step less each time, and at the smallest size again and again.
  RulerDraft fitting(const Drawing& draw, Index size, Index step, Index budget) const;

  // Throws DraftFailure where CPython refuses to draw more than there is.
  std::vector<Index> sample(Index size, Index count);

  // What next() draws, and what becomes of it.
  virtual RulerDraft draft(Index size) = 0;
  virtual RulerSample finish(const RulerDraft& draft);

  const RulerTask& task_;
  const text::Tokenizer& tokenizer_;
  Index length_;
  std::uint32_t seed_;
  PythonRandom random_;
  Index step_;
  Index size_ = 0;
  Index made_ = 0;
};

std::unique_ptr<RulerGenerator> make_needles(const RulerTask& task, RulerMaterial& material,
                                             const text::Tokenizer& tokenizer, Index length, std::uint32_t seed);
std::unique_ptr<RulerGenerator> make_variables(const RulerTask& task, const text::Tokenizer& tokenizer, Index length,
                                               std::uint32_t seed);
std::unique_ptr<RulerGenerator> make_common_words(const RulerTask& task, RulerMaterial& material,
                                                  const text::Tokenizer& tokenizer, Index length, std::uint32_t seed);
std::unique_ptr<RulerGenerator> make_frequent_words(const RulerTask& task, const text::Tokenizer& tokenizer,
                                                    Index length, std::uint32_t seed);
std::unique_ptr<RulerGenerator> make_questions(const RulerTask& task, RulerMaterial& material,
                                               const text::Tokenizer& tokenizer, Index length, std::uint32_t seed);

std::string join(const std::vector<std::string>& pieces, std::string_view between);

}  // namespace bam::eval
