// niah: needles in a haystack.
#include <algorithm>
#include <cstdio>

#include "eval/python_text.h"
#include "eval/ruler_sizing.h"

namespace bam::eval {
namespace {

constexpr std::string_view kNeedle = "One of the special magic {type_needle_v} for {key} is: {value}.";

// numpy.round(numpy.linspace(0, 100, 40))
constexpr Index kDepths = 40;
double depth(Index number) {
  const Index doubled = 200 * number / (kDepths - 1);  // of 2 x percent, and no percentage lies half-way
  return static_cast<double>((doubled + 1) / 2);
}

std::string_view name_of(NeedlePart part) {
  switch (part) {
    case NeedlePart::words:
      return "words";
    case NeedlePart::numbers:
      return "numbers";
    case NeedlePart::uuids:
      return "uuids";
  }
  return {};
}

// "a", "a, and b", "a, b, and c"
std::string enumeration(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return join({names.begin(), names.end() - 1}, ", ") + ", and " + names.back();
}

class NeedlesGenerator : public SizedGenerator {
 public:
  NeedlesGenerator(const RulerTask& task, RulerMaterial& material, const text::Tokenizer& tokenizer, Index length,
                   std::uint32_t seed)
      : SizedGenerator(task, tokenizer, length, seed, step_of(task, length)),
        material_(material),
        type_(name_of(task.value)),
        pattern_(std::string(task.question) + std::string(task.answer_prefix)) {
    asked_type_ = type_;
    prefix_pattern_ = task.answer_prefix;
    if (task.queries * task.values == 1) {
      asked_type_.pop_back();
      for (std::string* text : {&pattern_, &prefix_pattern_}) {
        *text = replace_all(*text, "Some", "A");
        *text = replace_all(*text, "are all", "is");
        *text = replace_all(*text, "are", "is");
      }
    }
    const Drawing draw = [this](Index size) { return draft(size); };
    const Index most = likely_most(draw, step_, length_);
    size_ = search(draw, step_, most, length_ - task.answer_tokens);
  }

 protected:
  RulerDraft draft(Index size) override {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;
    std::vector<std::string> needles;
    for (Index k = 0; k < task_.keys; ++k) {
      keys.push_back(draw(task_.key));
      values.emplace_back();
      for (Index v = 0; v < task_.values; ++v) {
        values.back().push_back(draw(task_.value));
        needles.push_back(needle(keys.back(), values.back().back()));
      }
    }
    PythonRandom(seed_).shuffle(needles);
    const std::string context = task_.haystack == Haystack::essay ? in_essay(needles, size) : in_lines(needles, size);

    std::vector<std::string> asked;
    std::vector<std::string> answers;
    for (const Index k : sample(task_.keys, task_.queries)) {
      asked.push_back(keys[static_cast<std::size_t>(k)]);
      for (const std::string& value : values[static_cast<std::size_t>(k)]) answers.push_back(value);
    }
    const std::string query = enumeration(asked);
    const auto filled = [&](const std::string& pattern) {
      return fill(pattern, {{"type_needle_v", asked_type_}, {"context", context}, {"query", query}});
    };
    return {filled(pattern_), filled(prefix_pattern_), answers};
  }

  // RULER gives these samples the place of the answer as their number.
  RulerSample finish(const RulerDraft& draft) override {
    RulerSample made = SizedGenerator::finish(draft);
    const std::size_t place = made.input.find(made.outputs.front());
    const std::string before = made.input.substr(0, place);
    made.index = characters(before);
    made.answer_token = tokens(before);
    return made;
  }

 private:
  static Index step_of(const RulerTask& task, Index length) {
    if (task.haystack == Haystack::essay) return 500;
    return length < 4096 ? 5 : 25;
  }

  std::string draw(NeedlePart part) {
    switch (part) {
      case NeedlePart::words: {
        const KeyNames& names = material_.key_names();
        return names[static_cast<Index>(random_.below(static_cast<std::uint64_t>(names.size())))];
      }
      case NeedlePart::numbers:
        return std::to_string(random_.integer(1000000, 9999999));
      case NeedlePart::uuids:
        return uuid();
    }
    return {};
  }

  std::string uuid() {
    std::array<std::uint32_t, 4> words{};  // the lowest first
    for (std::uint32_t& word : words) word = random_.bits32();
    const std::uint32_t with_version = (words[2] & 0xFFFF0FFFU) | 0x4000U;
    const std::uint32_t with_variant = (words[1] & 0x3FFFFFFFU) | 0x80000000U;
    char text[37];
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", words[3], with_version >> 16,
                  with_version & 0xFFFFU, with_variant >> 16, with_variant & 0xFFFFU, words[0]);
    return text;
  }

  std::string needle(const std::string& key, const std::string& value) const {
    return fill(kNeedle, {{"type_needle_v", type_}, {"key", key}, {"value", value}});
  }

  std::string in_lines(const std::vector<std::string>& needles, Index size) {
    std::vector<std::string> lines(static_cast<std::size_t>(size), std::string(kNoiseLine));
    if (task_.haystack == Haystack::needle) {
      for (std::string& line : lines) {
        const std::string key = draw(task_.key);
        line = needle(key, draw(task_.value));
      }
    }
    std::vector<Index> places = sample(size, std::ssize(needles));
    std::sort(places.rbegin(), places.rend());
    for (std::size_t i = 0; i < needles.size(); ++i) lines.insert(lines.begin() + places[i], needles[i]);
    return join(lines, "\n");
  }

  std::string in_essay(const std::vector<std::string>& needles, Index size) {
    const std::vector<std::string>& words = material_.essay_words();
    std::string text;
    for (Index i = 0; i < size; ++i) {
      if (i > 0) text += ' ';
      text += words[static_cast<std::size_t>(i % std::ssize(words))];
    }
    const std::vector<std::string_view> all = material_.essay_sentences(strip(text));
    std::vector<std::size_t> places;
    for (const Index number : sample(kDepths, std::ssize(needles))) {
      places.push_back(static_cast<std::size_t>(static_cast<double>(all.size()) * (depth(number) / 100)));
    }
    std::sort(places.begin(), places.end());
    places.push_back(all.size());
    std::vector<std::string> parts;
    for (std::size_t i = 0, begin = 0; i < places.size(); begin = places[i++]) {
      parts.push_back(
          join({all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(places[i])},
               " "));
      if (i < needles.size()) parts.push_back(needles[i]);
    }
    return join(parts, " ");
  }

  RulerMaterial& material_;
  std::string type_, asked_type_;
  std::string pattern_, prefix_pattern_;
};

}  // namespace

std::unique_ptr<RulerGenerator> make_needles(const RulerTask& task, RulerMaterial& material,
                                             const text::Tokenizer& tokenizer, Index length, std::uint32_t seed) {
  return std::make_unique<NeedlesGenerator>(task, material, tokenizer, length, seed);
}

}  // namespace bam::eval
