// A tokenizer put together from parts: tokens looked for in the text, normaliser, splitter, merges, decoder. All file
// formats that hold byte pair encodings become one of these.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/neighbours.h"
#include "text/special_tokens.h"
#include "text/splitter.h"
#include "text/tokenizer.h"
#include "text/word_encoder.h"

namespace bam::text {

// What an id decodes to.
enum class PieceRole : unsigned char {
  text,     // its text
  nothing,  // special tokens of SentencePiece; ids that no entry has
  byte,     // one byte of a character; the text is that byte
  unknown,  // the model's sign for it
};

struct BpePiece {
  std::string text;   // what it stands for: bytes, or UTF-8 with U+2581 for blanks
  std::string label;  // for people; empty where it is `text`
  PieceRole role = PieceRole::text;
};

enum class Decoding {
  bytes,          // texts are bytes, put one behind the other
  sentencepiece,  // U+2581 is a blank; bytes that make no character are U+FFFD each
};

// A blank put before a text when it is split, unless it begins with one: U+0020, or U+2581 too.
enum class PrefixBlank { none, always, unless_blank, unless_space };

struct BpeParts {
  std::string kind;
  std::string name;
  std::vector<io::TokenizerFile> files;

  std::vector<BpePiece> pieces;
  std::vector<SpecialToken> special;  // that --bos-token may name
  std::optional<Token> bos;           // the model's own
  std::optional<Token> eos;
  Fidelity fidelity = Fidelity::text;

  AddedTokens first;  // looked for in the text as it is
  AddedTokens later;  // looked for in the normalised text
  // Of one stretch of text. `is_start`: of the document; `goes_on`: in the middle of a stretch that was cut.
  std::function<std::string(std::string_view text, bool is_start, bool goes_on)> normalise;
  bool repairs_utf8 = true;  // bytes that are not UTF-8 become U+FFFD before anything else
  PrefixBlank prefix = PrefixBlank::none;
  bool prefix_at_start_only = false;
  std::unique_ptr<Splitter> splitter;  // null: by neighbours
  Neighbours neighbours;               // of the pieces, where there is no splitter
  bool parts = true;                   // whether the normaliser allows a text to be cut
  WordModel words;

  std::function<std::string(std::span<const Token> ids)> decode;  // in place of what follows
  Decoding decoding = Decoding::bytes;
  bool drops_first_blank = false;     // when decoding
  bool drops_leading_blanks = false;  // all of them
};

// Throws Error "SUBJECT: ..." for a largest id far above the number of tokens: what is reserved by it would be mostly
// empty, and as large as a damaged number says.
void require_dense_ids(Index largest_id, Index tokens, const std::string& subject);

std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeParts parts, const BosChoice& bos, const std::string& subject);

}  // namespace bam::text
