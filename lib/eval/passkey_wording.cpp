#include "eval/passkey_wording.h"

#include <set>
#include <vector>

namespace bam::eval {
namespace {

constexpr std::size_t kRun = 4;  // words

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool letter = lower >= 'a' && lower <= 'z';
    if (letter && !inside) words.emplace_back();
    if (letter) words.back() += lower;
    inside = letter;
  }
  return words;
}

std::string run_at(const std::vector<std::string>& words, std::size_t at) {
  std::string run;
  for (std::size_t i = at; i < at + kRun; ++i) run += words[i] + " ";
  return run;
}

std::set<std::string> runs_of(const std::vector<std::string>& words) {
  std::set<std::string> runs;
  for (std::size_t i = 0; i + kRun <= words.size(); ++i) runs.insert(run_at(words, i));
  return runs;
}

// The filler twice, for the words across its end.
std::set<std::string> prompt_runs() {
  const std::string filler = std::string(kPasskeyFiller) + " ";
  return runs_of(words_of(std::string(kPasskeyDescription) + " " + filler + filler + passkey_line("0") + " " + filler +
                          std::string(kPasskeyQuestion)));
}

}  // namespace

std::string passkey_line(std::string_view key) {
  const std::string digits(key);
  return "The pass key is " + digits + ". Remember it. " + digits + " is the pass key.";
}

bool repeats_passkey_wording(std::string_view text) {
  static const std::set<std::string> forbidden = prompt_runs();
  const std::vector<std::string> words = words_of(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("passkey")) return true;
    if (words[i] == "pass" && i + 1 < words.size() && words[i + 1].starts_with("key")) return true;
    if (i + kRun <= words.size() && forbidden.contains(run_at(words, i))) return true;
  }
  return false;
}

}  // namespace bam::eval
