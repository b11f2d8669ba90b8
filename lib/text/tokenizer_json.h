// A tokenizer.json of a vocabulary that came in another format, for programs that read no other.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/bpe_tokenizer.h"

namespace bam::text {

struct TokenizerJson {
  std::vector<std::string> entries;  // by id; "" for an id that none has
  std::vector<Merge> merges;         // in order: each has a rank of its own there, its place
  std::vector<Token> special;        // recognised unless a text is said to have none
  Token bos = 0;                     // what a text begins with

  bool byte_level = false;  // the entries are in the characters of characters_of_bytes
  std::string pattern;      // that splits a byte-level text; "" = GPT-2's

  // Of characters, where not byte-level.
  std::string unknown;  // entry of what has no other
  bool byte_fallback = false;
  bool dummy_prefix = false;
  std::vector<Token> user_defined;  // always recognised, in the text with the prefix before it
};

// Names of pieces, as the vocabulary of a tokenizer.json has them.
std::vector<std::string> entries_of(const std::vector<BpePiece>& pieces);

// Put before a user-defined symbol where that library normalises the symbol like a text, and taken away with the dummy
// prefix: two code points that stand for no characters (U+FDD0 U+FDEF). A text that begins with them loses them.
inline constexpr std::string_view kSymbolMark = "\xEF\xB7\x90\xEF\xB7\xAF";

std::string format_tokenizer_json(const TokenizerJson& tokenizer);

}  // namespace bam::text
