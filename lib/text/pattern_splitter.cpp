// The split patterns of widely used tokenizers, matched by hand: about ten times as fast as PCRE2 with JIT.
#include <array>
#include <utility>

#include "text/characters.h"
#include "text/splitter.h"

namespace bam::text {
namespace {

constexpr std::size_t kMostWords = 2048;

// The published expressions, and equal ones that tokenizer files hold. (tiktoken's present one for cl100k_base takes
// blanks at the end of a text with the newlines before them; no token of that vocabulary spans the two, so the ids are
// the same.)
constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt2Possessive =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)";
constexpr std::string_view kGpt2Short = R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100k =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array<std::pair<std::string_view, SplitPattern>, 5> kKnown = {{
    {kGpt2, SplitPattern::gpt2},
    {kGpt2Possessive, SplitPattern::gpt2},
    {kGpt2Short, SplitPattern::gpt2},
    {kCl100k, SplitPattern::cl100k},
    {kQwen2, SplitPattern::qwen2},
}};

// One place in a text, and the runs of characters that begin there.
class Cursor {
 public:
  Cursor(std::string_view text, const CharClasses& classes) : text_(text), classes_(classes) {}

  bool at_end(std::size_t at) const { return at == text_.size(); }
  char byte(std::size_t at) const { return text_[at]; }
  std::string_view rest(std::size_t at) const { return text_.substr(at); }

  CharClass of(std::size_t at, std::size_t& bytes) const { return classes_.at(text_.data() + at, bytes); }

  std::size_t behind_run(std::size_t at, CharClass wanted) const {
    std::size_t bytes = 0;
    while (!at_end(at) && of(at, bytes) == wanted) at += bytes;
    return at;
  }

  std::size_t behind_some(std::size_t at, CharClass wanted, int most) const {
    std::size_t bytes = 0;
    for (; most > 0 && !at_end(at) && of(at, bytes) == wanted; --most) at += bytes;
    return at;
  }

  // From a blank or newline: where the run of them ends that makes one word, by  \s+(?!\S)|\s+  and, where newlines
  // end words,  \s*[\r\n]+  before it.
  std::size_t behind_white_space(std::size_t at, bool newlines_end_words) const {
    std::size_t end = at, last = at, behind_newline = 0;
    while (!at_end(end)) {
      std::size_t bytes = 0;
      const CharClass kind = of(end, bytes);
      if (kind != CharClass::blank && kind != CharClass::newline) break;
      last = end;
      end += bytes;
      if (kind == CharClass::newline) behind_newline = end;
    }
    if (newlines_end_words && behind_newline > 0) return behind_newline;
    return at_end(end) || last == at ? end : last;
  }

 private:
  std::string_view text_;
  const CharClasses& classes_;
};

// The bytes of an English contraction at the front: 's 't 'm 'd 're 've 'll; 0 for none.
std::size_t contraction(std::string_view rest, bool any_case) {
  if (rest.size() < 2) return 0;
  const auto lower = [&](char c) { return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  const char first = lower(rest[1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  // U+017F, the long s, is an s when case does not matter.
  if (any_case && rest.substr(1).starts_with("\xC5\xBF")) return 3;
  if (rest.size() < 3) return 0;
  const char second = lower(rest[2]);
  const bool is_pair =
      (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return is_pair ? 3 : 0;
}

struct Gpt2 {
  static std::size_t next(const Cursor& cursor, std::size_t at) {
    if (cursor.byte(at) == '\'') {
      if (const std::size_t bytes = contraction(cursor.rest(at), false); bytes > 0) return at + bytes;
    }
    std::size_t bytes = 0;
    CharClass kind = cursor.of(at, bytes);
    std::size_t body = at;
    if (cursor.byte(at) == ' ' && !cursor.at_end(at + 1)) {
      const CharClass behind = cursor.of(at + 1, bytes);
      if (behind != CharClass::blank && behind != CharClass::newline) {
        kind = behind;
        body = at + 1;
      }
    }
    if (kind == CharClass::blank || kind == CharClass::newline) return cursor.behind_white_space(at, false);
    return cursor.behind_run(body + bytes, kind);
  }
};

template <int kMostDigits>
struct Cl100k {
  static std::size_t next(const Cursor& cursor, std::size_t at) {
    if (cursor.byte(at) == '\'') {
      if (const std::size_t bytes = contraction(cursor.rest(at), true); bytes > 0) return at + bytes;
    }
    std::size_t bytes = 0;
    const CharClass kind = cursor.of(at, bytes);
    if (kind == CharClass::letter) return cursor.behind_run(at + bytes, CharClass::letter);
    if (kind == CharClass::number) return cursor.behind_some(at + bytes, CharClass::number, kMostDigits - 1);
    const std::size_t second = at + bytes;
    std::size_t second_bytes = 0;
    const CharClass behind = cursor.at_end(second) ? CharClass::newline : cursor.of(second, second_bytes);
    if (kind != CharClass::newline && behind == CharClass::letter) {
      return cursor.behind_run(second + second_bytes, CharClass::letter);
    }
    const bool is_blank_and_other = cursor.byte(at) == ' ' && behind == CharClass::other;
    if (kind == CharClass::other || is_blank_and_other) {
      return cursor.behind_run(cursor.behind_run(second, CharClass::other), CharClass::newline);
    }
    return cursor.behind_white_space(at, true);
  }
};

template <typename Pattern>
class PatternSplitter : public Splitter {
 public:
  std::size_t split(std::string_view text, std::size_t from, std::vector<Span>& words) const override {
    const Cursor cursor(text, classes_);
    for (std::size_t count = 0; from < text.size() && count < kMostWords; ++count) {
      const std::size_t end = Pattern::next(cursor, from);
      words.push_back({from, end});
      from = end;
    }
    return from;
  }

  bool parts_before_blanks() const override { return true; }

 private:
  const CharClasses& classes_ = CharClasses::get();
};

}  // namespace

std::unique_ptr<Splitter> make_pattern_splitter(SplitPattern pattern) {
  switch (pattern) {
    case SplitPattern::gpt2:
      return std::make_unique<PatternSplitter<Gpt2>>();
    case SplitPattern::cl100k:
      return std::make_unique<PatternSplitter<Cl100k<3>>>();
    case SplitPattern::qwen2:
      return std::make_unique<PatternSplitter<Cl100k<1>>>();
  }
  return nullptr;
}

std::string published_pattern(SplitPattern pattern) {
  for (const auto& [text, known] : kKnown) {
    if (known == pattern) return std::string(text);
  }
  return {};
}

std::unique_ptr<Splitter> make_regex_splitter(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                                              const std::string& subject) {
  // These expressions match all of any text, so each match is a word whichever of the two behaviours is asked for.
  const bool keeps_matches = (behaviour == SplitBehaviour::isolated && !inverted) ||
                             (behaviour == SplitBehaviour::isolated && inverted) ||
                             (behaviour == SplitBehaviour::removed && inverted);
  for (const auto& [text, known] : kKnown) {
    if (text == pattern && keeps_matches) return make_pattern_splitter(known);
  }
  return make_pcre2_splitter(pattern, behaviour, inverted, subject);
}

}  // namespace bam::text
