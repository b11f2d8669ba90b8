// Splitters: where a tokenizer takes a text apart before it merges. No merge crosses such a place.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bam::text {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Safe for use by several threads at once.
class Splitter {
 public:
  virtual ~Splitter() = default;

  // Appends the next words of `text` (valid UTF-8) from `from`, which is below its size, some thousand of them at most,
  // and returns where to go on: the size of the text at its end.
  virtual std::size_t split(std::string_view text, std::size_t from, std::vector<Span>& words) const = 0;

  // Whether a word can never hold a letter or digit and then a blank or newline, and nothing that stands before such a
  // place or behind it moves a border on the other side.
  virtual bool parts_before_blanks() const { return false; }
};

// The patterns that widely used byte-level tokenizers split by.
enum class SplitPattern {
  gpt2,    // GPT-2, r50k_base, p50k_base
  cl100k,  // cl100k_base, Llama 3: letters with one other character before them, up to three digits
  qwen2,   // as cl100k with single digits
};

// A hand-made matcher of one of these patterns.
std::unique_ptr<Splitter> make_pattern_splitter(SplitPattern pattern);

// A splitter for a regular expression: the hand-made one where there is one, else PCRE2 with JIT.
enum class SplitBehaviour { isolated, removed, merged_with_previous, merged_with_next, contiguous };

// `inverted`: the text between matches is what the behaviour is about. Throws Error "SUBJECT: ..." for a pattern that
// is not valid, or has parts whose meaning differs between PCRE2 and the engine that the pattern was written for.
std::unique_ptr<Splitter> make_regex_splitter(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                                              const std::string& subject);

// A splitter that always goes through PCRE2: the oracle of the tests.
std::unique_ptr<Splitter> make_pcre2_splitter(const std::string& pattern, SplitBehaviour behaviour, bool inverted,
                                              const std::string& subject);

// The regular expression of a pattern, as published.
std::string published_pattern(SplitPattern pattern);

// Words are taken apart by one splitter after the other.
std::unique_ptr<Splitter> make_sequence_splitter(std::vector<std::unique_ptr<Splitter>> steps);

}  // namespace bam::text
