#include "eval/punkt.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "base/error.h"
#include "eval/python_text.h"
#include "io/stream.h"
#include "text/utf8.h"

namespace bam::eval {
namespace {

constexpr Index kMostBytes = Index{1} << 28;
constexpr std::string_view kNumber = "##number##";
constexpr std::string_view kEnds = ".?!";

// How a type was seen: at the beginning of a sentence, within one, or at an unknown place, large or small.
constexpr int kWithinLarge = 1 << 2;
constexpr int kBeginningSmall = 1 << 4;
constexpr int kLarge = 1 << 1 | kWithinLarge | 1 << 3;
constexpr int kSmall = kBeginningSmall | 1 << 5 | 1 << 6;

constexpr auto kQuotes = std::to_array<std::string_view>({"\u2018", "\u2019", "\u201C", "\u201D", "\u00AB", "\u00BB"});

// Bytes of one of the `marks`, or of a curly quote or guillemet, at `at`; 0 where there is none.
std::size_t mark_at(std::string_view text, std::size_t at, std::string_view marks) {
  if (at >= text.size()) return 0;
  if (marks.find(text[at]) != std::string_view::npos) return 1;
  for (const std::string_view quote : kQuotes) {
    if (text.substr(at).starts_with(quote)) return quote.size();
  }
  return 0;
}

// Characters that are in no word.
std::size_t non_word_at(std::string_view text, std::size_t at) {
  return mark_at(text, at, ")\";}]*:@'({[?!");
}

// Two dashes or full stops and more, or three full stops and more with a blank between.
std::size_t long_mark_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '-' && text[at] != '.')) return 0;
  const std::size_t run = std::min(text.find_first_not_of(text[at], at), text.size()) - at;
  if (run > 1) return run;
  std::size_t stops = 0;
  while (text.substr(at + 2 * stops).starts_with(". ")) ++stops;
  stops += text.substr(at + 2 * stops).starts_with('.') ? 1 : 0;
  return stops > 2 ? 2 * stops - 1 : 0;
}

bool word_ends(std::string_view text, std::size_t at) {
  const auto is_end = [text](std::size_t place) {
    return place >= text.size() || text[place] == ' ' || non_word_at(text, place) > 0 || long_mark_at(text, place) > 0;
  };
  return is_end(at) || (text[at] == ',' && is_end(at + 1));
}

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kNeverFirst = "(\"`{[:;&#*@)}]-,";
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    std::size_t size = long_mark_at(text, at);
    if (size == 0) {
      size = 1;
      if (kNeverFirst.find(text[at]) == std::string_view::npos) {
        while (!word_ends(text, at + size)) ++size;
      }
    }
    all.push_back(text.substr(at, size));
    at += size;
  }
  return all;
}

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// -?[.,]?\d[\d,.-]*
bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  if (word.starts_with('.') || word.starts_with(',')) word.remove_prefix(1);
  for (bool is_first = true;; is_first = false) {
    if (word.empty()) return !is_first;
    const text::CodePoint point = text::first_code_point(word);
    const bool is_digit = point.bytes > 0 && category_of(point.value) == UTF8PROC_CATEGORY_ND;
    if (!is_digit && (is_first || std::string_view(",.-").find(word[0]) == std::string_view::npos)) return false;
    word.remove_prefix(is_digit ? point.bytes : 1);
  }
}

// One letter and a full stop. As the regular expressions of NLTK 3.10 see it, "\u00BD" is none and "_" is one.
bool is_initial(std::string_view word) {
  const text::CodePoint point = text::first_code_point(word);
  if (point.bytes == 0 || word.substr(point.bytes) != ".") return false;
  switch (category_of(point.value)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

std::string without_stop(const std::string& type) {
  return type.size() > 1 && type.ends_with('.') ? type.substr(0, type.size() - 1) : type;
}

void for_each_line(const std::string& path, const std::function<void(std::string_view, Index)>& use) {
  const std::string bytes = io::read_file(path, kMostBytes);
  if (bytes.empty()) throw Error(path + ": empty, expected a file of NLTK's punkt_tab");
  Index line = 0;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    std::string_view text = std::string_view(bytes).substr(begin, end - begin);
    if (text.ends_with('\r')) text.remove_suffix(1);
    use(text, ++line);
    begin = end + 1;
  }
}

std::unordered_set<std::string> read_set(const std::string& path) {
  std::unordered_set<std::string> all;
  for_each_line(path, [&](std::string_view text, Index line) {
    if (text.find('\t') != std::string_view::npos) {
      throw Error(path + ":" + std::to_string(line) + ": a tab, expected one entry a line as in NLTK's punkt_tab");
    }
    all.emplace(text);
  });
  return all;
}

// The two parts of a line with one tab.
std::pair<std::string_view, std::string_view> parts(std::string_view text, const std::string& path, Index line) {
  const std::size_t tab = text.find('\t');
  if (tab == std::string_view::npos || text.find('\t', tab + 1) != std::string_view::npos) {
    throw Error(path + ":" + std::to_string(line) + ": not two parts with a tab, expected a table of NLTK's punkt_tab");
  }
  return {text.substr(0, tab), text.substr(tab + 1)};
}

}  // namespace

struct Punkt::Word {
  std::string_view text;
  std::string type;  // small letters, or kNumber
  bool is_break = false;
  bool is_abbreviation = false;
  bool is_ellipsis = false;
  bool is_large = false;  // its first letter
  bool is_small = false;

  std::string type_without_break() const { return is_break ? without_stop(type) : type; }
};

Punkt::Punkt(const std::string& folder)
    : abbreviations_(read_set(folder + "/abbrev_types.txt")), starters_(read_set(folder + "/sent_starters.txt")) {
  const std::string pairs = folder + "/collocations.tab";
  for_each_line(pairs, [&](std::string_view text, Index line) {
    parts(text, pairs, line);
    collocations_.emplace(text);
  });
  const std::string contexts = folder + "/ortho_context.tab";
  for_each_line(contexts, [&](std::string_view text, Index line) {
    const auto [type, number] = parts(text, contexts, line);
    int bits = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (error != std::errc() || end != number.data() + number.size()) {
      throw Error(contexts + ":" + std::to_string(line) + ": '" + std::string(number.substr(0, 20)) +
                  "', expected a whole number");
    }
    contexts_[std::string(type)] = bits;
  });
}

int Punkt::contexts_of(const std::string& type) const {
  const auto found = contexts_.find(type);
  return found == contexts_.end() ? 0 : found->second;
}

// What the word says by itself.
Punkt::Word Punkt::word_of(std::string_view text) const {
  Word word{.text = text, .type = lower(text)};
  const bool ends_with_stop = text.ends_with('.');
  if (text.size() == 1 && kEnds.find(text[0]) != std::string_view::npos) {
    word.is_break = true;
  } else if (text.find_first_not_of('.') == std::string_view::npos) {
    word.is_ellipsis = true;
  } else if (ends_with_stop && !text.ends_with("..")) {
    const std::string stem = word.type.substr(0, word.type.size() - 1);
    const bool is_known = abbreviations_.contains(stem) || abbreviations_.contains(stem.substr(stem.rfind('-') + 1));
    (is_known ? word.is_abbreviation : word.is_break) = true;
  }
  if (is_number(word.type)) word.type = kNumber;
  if (const text::CodePoint first = text::first_code_point(text); first.bytes > 0) {
    word.is_large = category_of(first.value) == UTF8PROC_CATEGORY_LU;
    word.is_small = category_of(first.value) == UTF8PROC_CATEGORY_LL;
  }
  return word;
}

Punkt::Start Punkt::starts_sentence(const Word& word) const {
  if (word.text.size() == 1 && std::string_view(";:,.!?").find(word.text[0]) != std::string_view::npos) {
    return Start::no;
  }
  const int contexts = contexts_of(word.type_without_break());
  if (word.is_large && (contexts & kSmall) != 0 && (contexts & kWithinLarge) == 0) return Start::yes;
  if (word.is_small && ((contexts & kLarge) != 0 || (contexts & kBeginningSmall) == 0)) return Start::no;
  return Start::unknown;
}

// Whether a sentence ends with `word`, where `next` follows it.
bool Punkt::ends_sentence(const Word& word, const Word& next) const {
  if (!word.text.ends_with('.')) return word.is_break;
  const std::string type = without_stop(word.type);
  const std::string next_type = next.type_without_break();
  if (collocations_.contains(type + "\t" + next_type)) return false;
  const bool is_one_letter = is_initial(word.text);
  const Start start = starts_sentence(next);
  if ((word.is_abbreviation || word.is_ellipsis) && !is_one_letter) {
    if (start == Start::yes || (next.is_large && starters_.contains(next_type))) return true;
  }
  if (is_one_letter || type == kNumber) {
    if (start == Start::no) return false;
    const bool is_always_large = next.is_large && (contexts_of(next_type) & kSmall) == 0;
    if (start == Start::unknown && is_one_letter && is_always_large) return false;
  }
  return word.is_break;
}

// Whether a sentence ends within the context of a mark: the word before it, and what follows.
bool Punkt::has_break(std::string_view context) const {
  const std::vector<std::string_view> all = words(context);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (ends_sentence(word_of(all[i]), word_of(all[i + 1]))) return true;
  }
  return false;
}

std::vector<Punkt::Span> Punkt::cut(std::string_view text) const {
  struct Mark {
    std::size_t word = 0;  // where the word before it begins
    std::size_t at = 0;
    std::size_t next = 0;  // where the next sentence would begin
    std::size_t end = 0;   // of the context
  };
  std::vector<Span> spans;
  std::size_t begin = 0;
  const auto decide = [&](const Mark& mark) {
    if (!has_break(text.substr(mark.word, mark.end - mark.word))) return;
    spans.push_back({begin, mark.at + 1});
    begin = mark.next;
  };
  Mark last;
  bool is_any = false;
  for (std::size_t at = text.find_first_of(kEnds); at < text.size(); at = text.find_first_of(kEnds, at + 1)) {
    Mark mark{.word = last.word, .at = at, .next = at + 1, .end = at + 1 + non_word_at(text, at + 1)};
    if (mark.end == mark.next) {
      mark.next = text.find_first_not_of(' ', at + 1);
      if (mark.next == at + 1 || mark.next == std::string_view::npos) continue;
      mark.end = std::min(text.find(' ', mark.next), text.size());
    }
    // Of marks in one word the last decides. A blank at the very beginning counts for none.
    const std::size_t blank = text.substr(last.at, at - last.at).rfind(' ');
    if (blank != std::string_view::npos && blank > 0) mark.word = last.at + blank + 1;
    if (is_any && last.at <= mark.word) decide(last);
    last = mark;
    is_any = true;
  }
  if (is_any) decide(last);
  const std::size_t end = text.find_last_not_of(' ');
  spans.push_back({begin, end == std::string_view::npos ? 0 : end + 1});
  return spans;
}

// Closing marks that stand behind the end of a sentence, and before a blank, two dashes or nothing, belong to it.
std::vector<std::string_view> Punkt::sentences(std::string_view text) const {
  const std::vector<Span> spans = cut(text);
  std::vector<std::string_view> all;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::size_t begin = spans[i].begin + moved;
    moved = 0;
    std::size_t end = spans[i].end;
    bool takes_more = false;
    if (i + 1 < spans.size()) {
      const std::string_view next = text.substr(spans[i + 1].begin, spans[i + 1].end - spans[i + 1].begin);
      std::size_t closing = 0;
      while (const std::size_t size = mark_at(next, closing, "\"')]}")) {
        closing += size;
        const std::size_t blanks = std::min(next.find_first_not_of(' ', closing), next.size()) - closing;
        if (blanks == 0 && closing < next.size() && !next.substr(closing).starts_with("--")) continue;
        end = spans[i + 1].begin + closing;
        moved = closing + blanks;
        takes_more = true;
        break;
      }
    }
    if (takes_more || begin < end) all.push_back(text.substr(begin, std::max(begin, end) - begin));
  }
  return all;
}

}  // namespace bam::eval
