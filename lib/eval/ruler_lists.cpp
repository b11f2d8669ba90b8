// cwe and fwe: the most common words of a list.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/error.h"
#include "eval/python_text.h"
#include "eval/ruler_sizing.h"

namespace bam::eval {
namespace {

constexpr Index kStep = 10;
constexpr Index kCommon = 10;
constexpr Index kFirstTry = 4096;  // words

// x // y of two positive floats.
Index floor_division(double x, double y) {
  const double quotient = (x - std::fmod(x, y)) / y;
  const double floor = std::floor(quotient);
  return static_cast<Index>(quotient - floor > 0.5 ? floor + 1 : floor);
}

std::string numbered(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(i + 1) + ". " + words[i];
  }
  return text;
}

class CommonWordsGenerator : public SizedGenerator {
 public:
  CommonWordsGenerator(const RulerTask& task, RulerMaterial& material, const text::Tokenizer& tokenizer, Index length,
                       std::uint32_t seed)
      : SizedGenerator(task, tokenizer, length, seed, kStep), material_(material) {
    const WordLists& lists = material.words();
    std::set<std::string> unique;
    for (const auto* list : {&lists.nouns, &lists.adjectives, &lists.verbs}) unique.insert(list->begin(), list->end());
    words_.assign(unique.begin(), unique.end());
    PythonRandom(seed).shuffle(words_);
    const Drawing draw = [this](Index size) { return draft(size); };
    const double tokens_each = static_cast<double>(tokens(draw(kFirstTry).text)) / static_cast<double>(kFirstTry);
    const Index most = 2 * floor_division(static_cast<double>(length), tokens_each);
    size_ = search(draw, kStep, most, length - task.answer_tokens);
  }

 protected:
  RulerDraft draft(Index size) override {
    const bool is_short = length_ < 4096;
    const List example = is_short ? list(20, 3, 1) : list(40, 10, 3);
    const List asked = is_short ? list(size, 6, 1) : list(size, 30, 3);
    const std::string prefix(task_.answer_prefix);
    return {fill(task_.question, {{"context", example.text}}) + prefix + " " + numbered(example.common) + "\n" +
                fill(task_.question, {{"context", asked.text}}) + prefix,
            prefix, asked.common};
  }

 private:
  struct List {
    std::string text;
    std::vector<std::string> common;
  };

  List list(Index size, Index common_times, Index other_times) {
    const std::vector<std::string> drawn = draw(size);
    const auto rest = drawn.begin() + std::min(kCommon, size);
    List result{.text = {}, .common = {drawn.begin(), rest}};
    std::vector<std::string> all;
    const auto add = [&](auto first, auto last, Index times) {
      for (Index i = 0; i < times; ++i) all.insert(all.end(), first, last);
    };
    add(drawn.begin(), rest, common_times);
    add(rest, drawn.end(), other_times);
    PythonRandom(seed_).shuffle(all);
    result.text = numbered(all);
    return result;
  }

  std::vector<std::string> draw(Index count) {
    if (count <= std::ssize(words_)) return pick(std::ssize(words_), count, [&](Index i) { return words_[at(i)]; });
    const WordLists& lists = material_.words();
    if (lists.is_built_in()) {
      const KeyNames& names = material_.key_names();
      return pick(names.size(), count, [&](Index i) { return names[i]; });
    }
    if (count > std::ssize(lists.more)) {
      throw Error(lists.name + ": cwe at " + std::to_string(length_) + " tokens tries " + std::to_string(count) +
                  " words, and the lists have " + std::to_string(words_.size()) +
                  (lists.more.empty() ? ", expected RULER's english_words.json beside them"
                                      : " and english_words.json " + std::to_string(lists.more.size())));
    }
    return pick(std::ssize(lists.more), count, [&](Index i) { return lists.more[at(i)]; });
  }

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  template <typename Word>
  std::vector<std::string> pick(Index size, Index count, Word word) {
    std::vector<std::string> words;
    for (const Index i : sample(size, count)) words.push_back(word(i));
    return words;
  }

  RulerMaterial& material_;
  std::vector<std::string> words_;
};

constexpr std::size_t kCodedLetters = 6;
constexpr Index kTokensForWord = 50;  // a word of the vocabulary for so many
constexpr Index kAsked = 3;

class FrequentWordsGenerator : public SizedGenerator {
 public:
  FrequentWordsGenerator(const RulerTask& task, const text::Tokenizer& tokenizer, Index length, std::uint32_t seed)
      : SizedGenerator(task, tokenizer, length, seed, (length - task.answer_tokens) / 32),
        budget_(length - task.answer_tokens) {
    const Index least = kTokensForWord * (kAsked + 1) + task.answer_tokens;
    if (length < least) {
      throw UsageError("--lengths: " + std::to_string(length) + " tokens are too few for fwe, expected at least " +
                       std::to_string(least) + ", for four coded words");
    }
    const std::vector<std::string> words = vocabulary();
    size_ = budget_ / static_cast<Index>(kCodedLetters);
    while (tokens(text(words, size_)) < budget_) size_ += step_;
    size_ -= step_;
  }

  RulerSample next() override {
    const std::vector<std::string> words = vocabulary();
    Index size = size_;
    while (tokens(text(words, size)) > budget_) {
      if (size <= 0) {
        throw Error(
            "--lengths: " + std::to_string(length_) +
            " tokens are too few for fwe: its question alone is longer, and RULER's own generator would try for "
            "ever");
      }
      size -= step_;
    }
    const RulerDraft drawn{
        text(words, size), std::string(task_.answer_prefix), {words.begin() + 1, words.begin() + 1 + kAsked}};
    return finish(drawn);
  }

 protected:
  RulerDraft draft(Index) override { return {}; }

 private:
  std::vector<std::string> vocabulary() {
    const Index count = budget_ / kTokensForWord;
    std::set<std::string> unique;
    for (Index drawn = 0; drawn < count || std::ssize(unique) < count; ++drawn) {
      std::string word;
      while (word.size() < kCodedLetters) word += static_cast<char>('a' + random_.index(26));
      unique.insert(word);
    }
    std::vector<std::string> words(unique.begin(), unique.end());
    PythonRandom(seed_).shuffle(words);
    words[0] = "...";
    return words;
  }

  std::string text(const std::vector<std::string>& words, Index size) const {
    constexpr double kZeta = std::numbers::pi * std::numbers::pi / 6;  // of 2, the exponent
    std::vector<std::string> all;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const double share = std::pow(static_cast<double>(i + 1), -2.0);
      const double times = static_cast<double>(size) * share / kZeta;
      for (Index k = 0; k < static_cast<Index>(times); ++k) all.push_back(words[i]);
    }
    PythonRandom(seed_).shuffle(all);
    const std::string context = join(all, " ");
    return fill(task_.question, {{"context", context}}) + std::string(task_.answer_prefix);
  }

  Index budget_;
};

}  // namespace

std::unique_ptr<RulerGenerator> make_common_words(const RulerTask& task, RulerMaterial& material,
                                                  const text::Tokenizer& tokenizer, Index length, std::uint32_t seed) {
  return std::make_unique<CommonWordsGenerator>(task, material, tokenizer, length, seed);
}

std::unique_ptr<RulerGenerator> make_frequent_words(const RulerTask& task, const text::Tokenizer& tokenizer,
                                                    Index length, std::uint32_t seed) {
  return std::make_unique<FrequentWordsGenerator>(task, tokenizer, length, seed);
}

}  // namespace bam::eval
