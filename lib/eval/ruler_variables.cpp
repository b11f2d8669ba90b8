// vt: chains of variables.
#include <algorithm>
#include <set>

#include "eval/python_text.h"
#include "eval/ruler_sizing.h"

namespace bam::eval {
namespace {

constexpr Index kVariables = 5;
constexpr Index kExampleTokens = 500;
constexpr Index kExampleStep = 5;
constexpr std::string_view kExampleValue = "12345";

class VariablesGenerator : public SizedGenerator {
 public:
  VariablesGenerator(const RulerTask& task, const text::Tokenizer& tokenizer, Index length, std::uint32_t seed)
      : SizedGenerator(task, tokenizer, length, seed, length < 4096 ? 5 : 10), numpy_(seed) {
    const Drawing example = [this](Index size) { return chain(size, true); };
    const Index most_example = likely_most(example, kExampleStep, kExampleTokens);
    const Index example_size = search(example, kExampleStep, most_example, kExampleTokens);
    const RulerDraft drawn = fitting(example, example_size, kExampleStep, kExampleTokens);
    example_ = drawn.text + " " + join(drawn.answers, " ") + "\n";
    example_variables_ = drawn.answers;

    const Drawing real = [this](Index size) { return chain(size, false); };
    const Index most = likely_most(real, step_, length_);
    size_ = search(real, step_, most, length_ - task.answer_tokens - tokens(example_));
  }

 protected:
  RulerDraft draft(Index size) override {
    RulerDraft drawn = chain(size, false);
    drawn.text = renamed_example() + "\n" + drawn.text;
    return drawn;
  }

 private:
  std::string letters(std::size_t count) {
    std::string text;
    while (text.size() < count) text += static_cast<char>('A' + random_.index(26));
    return text;
  }

  std::vector<std::string> variables(bool is_example) {
    const std::size_t size = is_example ? 3 : 5;
    std::vector<std::string> names;
    while (std::ssize(names) < kVariables) names.push_back(letters(size));
    while (std::ssize(std::set<std::string>(names.begin(), names.end())) < kVariables) names.push_back(letters(size));
    return names;
  }

  std::string value(bool is_example) {
    return is_example ? std::string(kExampleValue) : std::to_string(numpy_.integer(10000, 99999));
  }

  RulerDraft chain(Index size, bool is_example) {
    const std::vector<std::string> names = variables(is_example);
    const std::string first_value = value(is_example);
    if (std::ssize(names) > kVariables) {  // drawn for a second chain before it turns out to be too short
      value(is_example);
      throw DraftFailure("a variable was drawn twice");
    }
    std::vector<std::string> lines(static_cast<std::size_t>(size), std::string(kNoiseLine));
    std::vector<Index> places = sample(size, kVariables);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string line =
          i == 0 ? "VAR " + names[0] + " = " + first_value : "VAR " + names[i] + " = VAR " + names[i - 1] + " ";
      lines.insert(lines.begin() + places[i] + static_cast<std::ptrdiff_t>(i), line);
    }
    const std::string context = join(lines, "\n");
    const std::string number = std::to_string(kVariables);
    const auto filled = [&](std::string_view pattern) {
      return fill(pattern, {{"context", context}, {"query", first_value}, {"num_v", number}});
    };
    const std::string prefix = filled(task_.answer_prefix);
    return {filled(task_.question) + prefix, prefix, names};
  }

  // Replaced one after the other wherever they stand, even within what an earlier replacement wrote.
  std::string renamed_example() {
    std::string text = example_;
    for (const std::string& name : example_variables_) text = replace_all(text, name, letters(name.size()));
    return replace_all(text, kExampleValue, value(false));
  }

  NumpyRandom numpy_;
  std::string example_;
  std::vector<std::string> example_variables_;
};

}  // namespace

std::unique_ptr<RulerGenerator> make_variables(const RulerTask& task, const text::Tokenizer& tokenizer, Index length,
                                               std::uint32_t seed) {
  return std::make_unique<VariablesGenerator>(task, tokenizer, length, seed);
}

}  // namespace bam::eval
