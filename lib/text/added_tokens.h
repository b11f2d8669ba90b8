// Tokens that are looked for in a text before anything else is done to it: special tokens, where they are allowed, and
// symbols that a tokenizer's maker added.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io/shard.h"

namespace bam::text {

using io::Token;

struct AddedToken {
  std::string content;
  Token id = 0;
  bool takes_blanks_before = false;
  bool takes_blanks_behind = false;
  bool single_word = false;  // only where no character of words is beside it
  bool stays_text = false;   // found, so that nothing else is in its place, but text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }
  const std::vector<AddedToken>& all() const { return tokens_; }

  // Text, or one token.
  struct Section {
    std::size_t begin = 0;
    std::size_t end = 0;
    Token id = -1;  // -1 for text
  };

  // Takes all of `text` apart. At each place the longest token counts; sections of text are not empty. A token that
  // stands in the blanks that the one before takes is a section all the same, and text goes on behind it.
  std::vector<Section> split(std::string_view text) const;

  // The longest token at the front of `text`, or null.
  const AddedToken* longest(std::string_view text) const;

  // Whether `text` ends with a token.
  bool any_ends(std::string_view text) const;

  // Whether the text on either side of a token, or what it stands in, matters.
  bool look_around() const;

 private:
  std::vector<AddedToken> tokens_;  // by content
  std::array<bool, 256> begins_{};
};

}  // namespace bam::text
