// What a SentencePiece model does to a text before it looks for pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/sentencepiece_model.h"

namespace bam::text {

class SentencePieceNormaliser {
 public:
  // `kept`: user-defined symbols, which pass as they are. Copies what it needs of the model, whose rules have been
  // checked (character_map_problem).
  SentencePieceNormaliser(const SentencePieceModel& model, AddedTokens kept);

  // With a blank wherever the library would put U+2581. `is_start`: of the document, where the dummy prefix goes.
  std::string operator()(std::string_view text, bool is_start) const;

 private:
  struct Piece {
    std::string_view text;
    std::size_t consumed = 0;
  };
  Piece next(std::string_view text) const;
  Piece longest_rule(std::string_view text) const;

  bool dummy_prefix_;
  bool removes_extra_blanks_;
  AddedTokens kept_;
  std::vector<std::uint32_t> units_;  // see character_map.cpp
  std::string replacements_;
};

}  // namespace bam::text
