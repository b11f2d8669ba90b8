// Splitters of arbitrary regular expressions, matched by PCRE2 with JIT.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "text/splitter.h"

namespace bam::text {
namespace {

constexpr std::size_t kMostWords = 2048;

std::string message_of(int code) {
  std::array<unsigned char, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// The pattern as PCRE2 must have it to mean the same. Patterns in tokenizer files are written for Oniguruma or for
// Rust's regex; where a sign means something else there, or is unknown to one of them, the pattern is refused.
class Translation {
 public:
  Translation(const std::string& pattern, const std::string& subject) : pattern_(pattern), subject_(subject) {
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '\\') {
        take_escape();
      } else {
        take_plain();
      }
    }
  }
  const std::string& text() const { return text_; }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(subject_ + ": split pattern with " + what + ", which is not supported");
  }

  // Oniguruma takes {2}? as a part that may be missing, and {2,3}+ as one that is repeated once more.
  void check_count() const {
    const std::size_t end = pattern_.find_first_not_of("0123456789,", at_ + 1);
    if (end == std::string::npos || pattern_[end] != '}' || end + 1 == pattern_.size()) return;
    const std::string_view count = std::string_view(pattern_).substr(at_, end - at_);
    if (pattern_[end + 1] == '+') refuse("'+' behind '{N}'");
    if (pattern_[end + 1] == '?' && count.find(',') == std::string_view::npos) refuse("'?' behind '{N}'");
  }

  // Where case does not matter: plain words of ASCII and classes of its letters, between '|'. Oniguruma takes one
  // character for two letters that it folds to (U+00DF for ss, U+FB01 for fi), and has more to say about the rest.
  void take_any_case(std::size_t end) {
    while (at_ < end) {
      const std::string_view rest = std::string_view(pattern_).substr(at_, end - at_);
      if (rest.front() == '[') {
        const std::size_t close = rest.find_first_not_of(kLetters, 1);
        if (close <= 1 || close == rest.npos || rest[close] != ']') refuse_any_case();
        take(close + 1);
        continue;
      }
      if (rest.front() != '|' && !is_word(rest.front()) && rest.front() != '\'') refuse_any_case();
      for (const std::string_view fold : {"ss", "st", "ff", "fi", "fl"}) {
        const auto is_same = [](char a, char b) { return (a | 0x20) == b; };
        if (rest.size() > 1 && is_same(rest[0], fold[0]) && is_same(rest[1], fold[1])) refuse_any_case();
      }
      take(1);
    }
  }

  [[noreturn]] void refuse_any_case() const {
    refuse("'(?i' about other than plain words to which no character folds");
  }

  bool follows(std::string_view sign) const { return std::string_view(pattern_).substr(at_).starts_with(sign); }

  void take(std::size_t bytes) {
    text_ += pattern_.substr(at_, bytes);
    at_ += bytes;
  }

  void take_plain() {
    const char sign = pattern_[at_];
    if (inside_class_) {
      if (sign == '[' || follows("&&")) refuse("an operation on character classes");
      if (sign == ']') inside_class_ = false;
    } else if (sign == '[') {
      inside_class_ = true;
    } else if (sign == '^' || sign == '$' || sign == '.') {
      refuse(std::string("'") + sign + "'");
    } else if (follows("(?")) {
      constexpr std::array<std::string_view, 7> kGroups = {"(?:", "(?i:", "(?i)", "(?=", "(?!", "(?<=", "(?<!"};
      if (std::none_of(kGroups.begin(), kGroups.end(), [&](std::string_view group) { return follows(group); })) {
        refuse("a group of the kind '" + pattern_.substr(at_, 4) + "'");
      }
      // Within an alternation Oniguruma takes the branches behind it for its own.
      if (follows("(?i)") && at_ > 0) refuse("'(?i)' behind its beginning");
      if (follows("(?i")) {
        const std::size_t end = follows("(?i)") ? pattern_.size() : std::min(pattern_.find(')', at_), pattern_.size());
        take(4);
        return take_any_case(end);
      }
    } else if (follows("{,")) {
      refuse("'{,'");
    } else if (sign == '{') {
      check_count();
    }
    // A ']' right behind the beginning of a class is one of its members.
    std::size_t bytes = 1;
    if (sign == '[') bytes = follows("[^]") ? 3 : follows("[^") || follows("[]") ? 2 : 1;
    take(bytes);
  }

  void take_escape() {
    if (at_ + 1 == pattern_.size()) refuse("'\\' at its end");
    const char sign = pattern_[at_ + 1];
    if (sign == 's' || sign == 'S') {
      // PCRE2 counts U+180E as a blank, the others do not.
      text_ += sign == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      at_ += 2;
    } else if (sign == 'p' || sign == 'P') {
      take_property();
    } else if (sign == 'u') {
      text_ += "\\x{" + pattern_.substr(at_ + 2, 4) + "}";
      at_ = std::min(at_ + 6, pattern_.size());
    } else if (std::string_view("dDrntfx").find(sign) != std::string_view::npos || !is_word(sign)) {
      take(2);
    } else {
      refuse(std::string("'\\") + sign + "'");
    }
  }

  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  static bool is_word(char sign) { return (sign >= '0' && sign <= '9') || kLetters.find(sign) != kLetters.npos; }

  void take_property() {
    const std::size_t end = pattern_.find('}', at_);
    // Which is two letters to Oniguruma.
    if (at_ + 2 >= pattern_.size() || pattern_[at_ + 2] != '{') refuse("a property without braces");
    if (end == std::string::npos) refuse("a property without an end");
    const std::string name = pattern_.substr(at_ + 3, end - at_ - 3);
    if (name.size() > (name.starts_with('^') ? 3U : 2U)) {
      constexpr std::array<std::string_view, 11> kScripts = {"Han",    "Hiragana", "Katakana",  "Hangul",
                                                             "Latin",  "Greek",    "Cyrillic",  "Arabic",
                                                             "Hebrew", "Thai",     "Devanagari"};
      if (std::find(kScripts.begin(), kScripts.end(), name) == kScripts.end()) refuse("the property '" + name + "'");
      // By its name alone PCRE2 takes a script with its extensions.
      text_ += pattern_.substr(at_, 3) + "sc:" + name + "}";
      at_ = end + 1;
      return;
    }
    take(end + 1 - at_);
  }

  const std::string& pattern_;
  const std::string& subject_;
  std::string text_;
  std::size_t at_ = 0;
  bool inside_class_ = false;
};

class RegexSplitter : public Splitter {
 public:
  RegexSplitter(const std::string& pattern, SplitBehaviour behaviour, bool inverted, const std::string& subject)
      : behaviour_(behaviour), inverted_(inverted) {
    const std::string text = Translation(pattern, subject).text();
    int code = 0;
    PCRE2_SIZE where = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF | PCRE2_UCP, &code,
                              &where, nullptr));
    if (!code_) throw Error(subject + ": split pattern that is not valid: " + message_of(code));
    std::uint32_t matches_nothing = 0;
    pcre2_pattern_info(code_.get(), PCRE2_INFO_MATCHEMPTY, &matches_nothing);
    if (matches_nothing != 0) {
      throw Error(subject + ": split pattern that matches between characters, which is not supported");
    }
    pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE);  // without JIT it is slower, no more
  }

  std::size_t split(std::string_view text, std::size_t from, std::vector<Span>& words) const override {
    Matcher matcher(code_.get());
    const bool in_parts = behaviour_ == SplitBehaviour::isolated || behaviour_ == SplitBehaviour::removed;
    std::vector<Segment> segments;
    while (from < text.size() && (!in_parts || segments.size() < kMostWords)) {
      const Span match = matcher.next(text, from);
      if (match.begin > from) segments.push_back({{from, match.begin}, inverted_});
      if (match.begin < text.size()) segments.push_back({match, !inverted_});
      from = match.begin < text.size() ? match.end : text.size();
    }
    arrange(segments, words);
    return from;
  }

 private:
  struct Segment {
    Span span;
    bool is_match;
  };
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
    void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
  };

  // What one thread needs to match.
  class Matcher {
   public:
    explicit Matcher(const pcre2_code* code)
        : code_(code),
          data_(pcre2_match_data_create(1, nullptr)),
          context_(pcre2_match_context_create(nullptr)),
          stack_(pcre2_jit_stack_create(32 * 1024, 16 * 1024 * 1024, nullptr)) {
      if (!data_ || !context_ || !stack_) throw Error("out of memory for a split pattern");
      pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
    }

    // The next match that is not empty; begin is the size of the text when there is none.
    Span next(std::string_view text, std::size_t from) const {
      const int status = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                     PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, data_.get(), context_.get());
      if (status == PCRE2_ERROR_NOMATCH) return {text.size(), text.size()};
      if (status < 0) throw Error("a split pattern cannot be matched: " + message_of(status));
      const PCRE2_SIZE* match = pcre2_get_ovector_pointer(data_.get());
      return {match[0], match[1]};
    }

   private:
    const pcre2_code* code_;
    std::unique_ptr<pcre2_match_data, Free> data_;
    std::unique_ptr<pcre2_match_context, Free> context_;
    std::unique_ptr<pcre2_jit_stack, Free> stack_;
  };

  void arrange(std::vector<Segment>& segments, std::vector<Span>& words) const {
    const auto same_word = [&](const Segment& left, const Segment& right) {
      switch (behaviour_) {
        case SplitBehaviour::contiguous:
          return left.is_match == right.is_match;
        case SplitBehaviour::merged_with_previous:
          return right.is_match && !left.is_match;
        case SplitBehaviour::merged_with_next:
          return left.is_match && !right.is_match;
        default:
          return false;
      }
    };
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (behaviour_ == SplitBehaviour::removed && segments[i].is_match) continue;
      if (i > 0 && same_word(segments[i - 1], segments[i])) {
        words.back().end = segments[i].span.end;
      } else {
        words.push_back(segments[i].span);
      }
    }
  }

  SplitBehaviour behaviour_;
  bool inverted_;
  std::unique_ptr<pcre2_code, Free> code_;
};

class SequenceSplitter : public Splitter {
 public:
  explicit SequenceSplitter(std::vector<std::unique_ptr<Splitter>> steps) : steps_(std::move(steps)) {}

  std::size_t split(std::string_view text, std::size_t from, std::vector<Span>& words) const override {
    std::vector<Span> before;
    from = steps_.front()->split(text, from, before);
    for (std::size_t step = 1; step < steps_.size(); ++step) {
      std::vector<Span> after;
      for (const Span& word : before) split_word(*steps_[step], text, word, after);
      before = std::move(after);
    }
    words.insert(words.end(), before.begin(), before.end());
    return from;
  }

  bool parts_before_blanks() const override {
    return std::all_of(steps_.begin(), steps_.end(), [](const auto& step) { return step->parts_before_blanks(); });
  }

 private:
  static void split_word(const Splitter& step, std::string_view text, const Span& word, std::vector<Span>& words) {
    const std::string_view part = text.substr(word.begin, word.end - word.begin);
    const std::size_t first = words.size();
    for (std::size_t at = 0; at < part.size();) at = step.split(part, at, words);
    for (std::size_t i = first; i < words.size(); ++i) {
      words[i].begin += word.begin;
      words[i].end += word.begin;
    }
  }

  std::vector<std::unique_ptr<Splitter>> steps_;
};

}  // namespace

std::unique_ptr<Splitter> make_pcre2_splitter(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                                              const std::string& subject) {
  return std::make_unique<RegexSplitter>(pattern, behaviour, inverted, subject);
}

std::unique_ptr<Splitter> make_sequence_splitter(std::vector<std::unique_ptr<Splitter>> steps) {
  return std::make_unique<SequenceSplitter>(std::move(steps));
}

}  // namespace bam::text
