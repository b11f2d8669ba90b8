// boxes: text io base
#include "text/splitter.h"

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/characters.h"

using namespace bam::test;
using namespace bam::text;

namespace {

std::vector<std::string> words_of(const Splitter& splitter, const std::string& text) {
  std::vector<Span> spans;
  for (std::size_t at = 0; at < text.size();) at = splitter.split(text, at, spans);
  std::vector<std::string> words;
  for (const Span& span : spans) words.push_back(text.substr(span.begin, span.end - span.begin));
  return words;
}

std::vector<std::string> split_by(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                                  const std::string& text) {
  return words_of(*make_pcre2_splitter(pattern, behaviour, inverted, "x"), text);
}

using Words = std::vector<std::string>;
constexpr SplitPattern kPatterns[] = {SplitPattern::gpt2, SplitPattern::cl100k, SplitPattern::qwen2};

}  // namespace

TEST_CASE("splitter: hand-made matchers give what PCRE2 gives for the published patterns") {
  const std::vector<std::string> signs = {"a",
                                          "Z",
                                          "s",
                                          "S",
                                          "t",
                                          "l",
                                          "L",
                                          "v",
                                          "e",
                                          "r",
                                          "d",
                                          "m",
                                          "'",
                                          "'",
                                          "\xE2\x80\x99",
                                          "\xC5\xBF",
                                          "\xE2\x84\xAA",
                                          " ",
                                          " ",
                                          " ",
                                          "\n",
                                          "\r",
                                          "\t",
                                          "\xC2\xA0",
                                          "\xE3\x80\x80",
                                          "\xE1\xA0\x8E",
                                          "\xC2\x85",
                                          "0",
                                          "7",
                                          "\xC2\xBD",
                                          "\xD9\xA3",
                                          "\xE4\xB8\xAD",
                                          "\xC3\xA9",
                                          "e\xCC\x81",
                                          "!",
                                          ".",
                                          "/",
                                          "_",
                                          "\xF0\x9F\x98\x80",
                                          "\xF0\x9D\x90\x80",
                                          ""};
  bam::Rng rng(4);
  for (const SplitPattern pattern : kPatterns) {
    const auto hand = make_pattern_splitter(pattern);
    const auto oracle = make_pcre2_splitter(published_pattern(pattern), SplitBehaviour::isolated, false, "x");
    for (int round = 0; round < 4000; ++round) {
      std::string text;
      for (std::uint64_t i = 1 + rng.below(14); i > 0; --i) text += signs[rng.below(signs.size())];
      INFO(text);
      REQUIRE(words_of(*hand, text) == words_of(*oracle, text));
    }
  }
}

TEST_CASE("splitter: every character has the class that PCRE2 gives it") {
  // Characters that one of the two Unicode versions lacks are left out.
  std::string all;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    append_utf8(all, c);
  }
  std::string known;
  for (const std::string& run : split_by("\\p{Cn}+", SplitBehaviour::removed, false, all)) known += run;
  CHECK(known.size() > 500'000);
  const auto count = [&](const std::string& pattern, CharClass wanted) {
    std::string theirs, ours;
    for (const std::string& run : split_by(pattern, SplitBehaviour::removed, true, known)) theirs += run;
    for (std::size_t at = 0, bytes = 0; at < known.size(); at += bytes) {
      if (CharClasses::get().at(known.data() + at, bytes) == wanted) ours += known.substr(at, bytes);
    }
    return theirs == ours;
  };
  CHECK(count("\\p{L}", CharClass::letter));
  CHECK(count("\\p{N}", CharClass::number));
  CHECK(count("[\\r\\n]", CharClass::newline));
  CHECK(count("(?![\\r\\n])\\s", CharClass::blank));
}

TEST_CASE("splitter: a place behind a letter or digit and before a blank is always between words") {
  bam::Rng rng(9);
  const std::vector<std::string> signs = {"a", "'s", " ", "\n", "1", "!", "\xE4\xB8\xAD", "\t"};
  for (const SplitPattern pattern : kPatterns) {
    const auto splitter = make_pattern_splitter(pattern);
    CHECK(splitter->parts_before_blanks());
    for (int round = 0; round < 500; ++round) {
      std::string left, right;
      for (std::uint64_t i = rng.below(8); i > 0; --i) left += signs[rng.below(signs.size())];
      for (std::uint64_t i = rng.below(8); i > 0; --i) right += signs[rng.below(signs.size())];
      left += rng.below(2) == 0 ? "a" : "1";
      right = (rng.below(2) == 0 ? " " : "\n") + right;
      Words both = words_of(*splitter, left);
      const Words behind = words_of(*splitter, right);
      both.insert(both.end(), behind.begin(), behind.end());
      CHECK(words_of(*splitter, left + right) == both);
    }
  }
}

TEST_CASE("splitter: what becomes of matches and of the text between") {
  const std::string text = "ab--c-d";
  CHECK(split_by("-", SplitBehaviour::isolated, false, text) == Words{"ab", "-", "-", "c", "-", "d"});
  CHECK(split_by("-", SplitBehaviour::removed, false, text) == Words{"ab", "c", "d"});
  CHECK(split_by("-", SplitBehaviour::removed, true, text) == Words{"-", "-", "-"});
  CHECK(split_by("-", SplitBehaviour::merged_with_previous, false, text) == Words{"ab-", "-", "c-", "d"});
  CHECK(split_by("-", SplitBehaviour::merged_with_next, false, text) == Words{"ab", "-", "-c", "-d"});
  CHECK(split_by("-", SplitBehaviour::contiguous, false, text) == Words{"ab", "--", "c", "-", "d"});
  std::vector<std::unique_ptr<Splitter>> steps;
  steps.push_back(make_pcre2_splitter("-", SplitBehaviour::isolated, false, "x"));
  steps.push_back(make_pcre2_splitter("b", SplitBehaviour::isolated, false, "x"));
  CHECK(words_of(*make_sequence_splitter(std::move(steps)), text) == Words{"a", "b", "-", "-", "c", "-", "d"});
}

TEST_CASE("splitter: patterns that other engines understand otherwise are refused by name") {
  for (const std::string pattern :
       {"\\w+",           "a.b",    "^a",     "a$",        "[a&&b]",        "[a[b]]",    "\\h",
        "\\p{Old_Thing}", "(?x)a",  "a\\",    "a{,3}",     "a{2}?",         "a(?i)b|c",  "a{1,3}+",
        "a{2}+",          "\\pL",   "(?i)ss", "(?i:x|ST)", "(?i:\xC3\x9F)", "(?i)[^a]b", "(?i:\\p{L}|a)",
        "(?i:(?:s)t)",    "(?i:a+)"}) {
    const std::string problem =
        error_of([&] { make_regex_splitter(pattern, SplitBehaviour::isolated, false, "t.json"); });
    INFO(pattern << ": " << problem);
    CHECK(contains(problem, "t.json: split pattern with "));
    CHECK(contains(problem, "not supported"));
  }
  CHECK(contains(error_of([] { make_regex_splitter("(a", SplitBehaviour::isolated, false, "t.json"); }),
                 "t.json: split pattern that is not valid: "));
  for (const std::string pattern : {"a*", "a|", "(?=a)", "a??", "(?<=b)"}) {
    CHECK(error_of([&] { make_regex_splitter(pattern, SplitBehaviour::isolated, false, "t.json"); }) ==
          "t.json: split pattern that matches between characters, which is not supported");
  }
  for (const std::string pattern : {"(?i)a|B", "(?i:'s|'T|[sdmt]|ll|ve|re)+", "a{2,3}?", "a{2}", "a{0,2}b"}) {
    CHECK(make_regex_splitter(pattern, SplitBehaviour::isolated, false, "t.json") != nullptr);
  }
  // U+180E is no blank, scripts have no extensions, \u is a character.
  CHECK(split_by("\\s", SplitBehaviour::isolated, false, "a\xE1\xA0\x8E") == Words{"a\xE1\xA0\x8E"});
  CHECK(split_by("\\p{Han}", SplitBehaviour::isolated, false, "\xE3\x80\x81\xE4\xB8\xAD") ==
        Words{"\xE3\x80\x81", "\xE4\xB8\xAD"});
  CHECK(split_by("\\p{Han}", SplitBehaviour::removed, true, "\xE3\x80\x81\xE4\xB8\xAD") == Words{"\xE4\xB8\xAD"});
  CHECK(split_by("[\\u4e2d]", SplitBehaviour::removed, true, "a\xE4\xB8\xAD") == Words{"\xE4\xB8\xAD"});
}

TEST_CASE("splitter: U+FFFD stands for each maximal part that is not UTF-8") {
  const std::string r = "\xEF\xBF\xBD";
  CHECK(repaired_utf8("a\xFF\xFE"
                      "b") == "a" + r + r + "b");
  CHECK(repaired_utf8("\xE2\x82") == r);
  CHECK(repaired_utf8("\xE2\x82"
                      "a") == r + "a");
  CHECK(repaired_utf8("\xF0\x9F\x98") == r);
  CHECK(repaired_utf8("\xED\xA0\x80") == r + r + r);
  CHECK(repaired_utf8("\xC0\xAF") == r + r);
  CHECK(repaired_utf8("\xE2\x82\xAC") == "\xE2\x82\xAC");
  CHECK(normal_form("e\xCC\x81", NormalForm::nfc) == "\xC3\xA9");
  CHECK(normal_form("\xEF\xAC\x81", NormalForm::nfkc) == "fi");
}
