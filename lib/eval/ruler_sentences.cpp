#include <algorithm>
#include <array>
#include <cctype>

#include "eval/ruler_samples.h"

namespace bam::eval {
namespace {

constexpr auto kAbbreviations = std::to_array<std::string_view>(
    {"Mr", "Mrs", "Ms", "Dr",  "St",  "Prof", "Gen", "Col", "Capt", "Lt",  "Sgt", "Rev", "Hon", "Jr", "Sr",
     "vs", "etc", "No", "Vol", "Fig", "cf",   "al",  "Co",  "Inc",  "Ltd", "e.g", "i.e", "a.m", "p.m"});

constexpr auto kClosing = std::to_array<std::string_view>({"\"", "'", ")", "]", "\u201D", "\u2019"});

bool is_abbreviation(std::string_view before) {
  const std::string_view word = before.substr(before.rfind(' ') + 1);
  const bool is_initial = word.size() == 1 && std::isupper(static_cast<unsigned char>(word[0])) != 0 && word != "I";
  return is_initial || std::find(kAbbreviations.begin(), kAbbreviations.end(), word) != kAbbreviations.end();
}

std::size_t skip_closing(std::string_view text, std::size_t at) {
  for (;;) {
    const auto closing = std::find_if(kClosing.begin(), kClosing.end(),
                                      [&](std::string_view mark) { return text.substr(at).starts_with(mark); });
    if (closing == kClosing.end()) return at;
    at += closing->size();
  }
}

}  // namespace

std::vector<std::string_view> sentences(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t begin = 0;
  for (std::size_t at = text.find_first_of(".!?"); at < text.size(); at = text.find_first_of(".!?", at + 1)) {
    const std::size_t end = skip_closing(text, at + 1);
    if (end + 1 >= text.size() || text[end] != ' ') continue;
    const auto next = static_cast<unsigned char>(text[end + 1]);
    if (std::islower(next) != 0 || (text[at] == '.' && is_abbreviation(text.substr(begin, at - begin)))) continue;
    all.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin < text.size()) all.push_back(text.substr(begin));
  return all;
}

}  // namespace bam::eval
