// The thirteen tasks of RULER (Hsieh et al. 2024, arXiv 2404.06654), with the parameters and the wording of its own
// generators.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace bam::eval {

enum class RulerKind : std::uint8_t { needles, variables, common_words, frequent_words, questions };

// What needles lie in: repetitions of a sentence about grass, an essay, or other needles.
enum class Haystack : std::uint8_t { noise, essay, needle };
const NameTable<Haystack>& haystack_names();

// What keys and values of needles are.
enum class NeedlePart : std::uint8_t { words, numbers, uuids };

// A score of 0 to 1: the share of the references that the prediction holds, or whether it holds any of them.
enum class RulerMatch : std::uint8_t { all, part };

struct RulerTask {
  std::string_view name;
  RulerKind kind = RulerKind::needles;
  Index answer_tokens = 128;  // that may be written, and count towards the length
  RulerMatch match = RulerMatch::all;
  std::string_view question;  // the template, up to the answer
  std::string_view answer_prefix;
  // Of needles only.
  Haystack haystack = Haystack::noise;
  NeedlePart key = NeedlePart::words;
  NeedlePart value = NeedlePart::numbers;
  Index keys = 1;
  Index values = 1;  // of each key
  Index queries = 1;
};

const std::vector<RulerTask>& ruler_tasks();

inline constexpr std::string_view kNoiseLine =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

}  // namespace bam::eval
