// What a SentencePiece .model file says about itself. The library keeps most of it behind headers that it does not
// install, and trusts parts of the file that can make it read outside its memory; both are why this reader exists.
// The file is a protocol buffer: sentencepiece_model.proto of the SentencePiece sources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bam::text {

enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Piece {
  std::string_view text;
  float score = 0;
  PieceType type = PieceType::normal;
};

enum class SegmentationType { unigram = 1, bpe = 2, word = 3, character = 4 };

struct SentencePieceModel {
  std::vector<Piece> pieces;
  SegmentationType segmentation = SegmentationType::unigram;
  bool byte_fallback = false;
  bool blank_is_suffix = false;
  bool dummy_prefix = true;
  bool removes_extra_blanks = true;
  bool escapes_blanks = true;
  std::string_view unknown_surface = " \xE2\x81\x87 ";  // what an unknown piece decodes to
  std::string_view bos_piece = "<s>";                   // if that is a control piece
  std::string_view eos_piece = "</s>";
  std::string_view character_map;  // compiled normalisation rules; empty = identity
  std::string_view decoding_map;   // the same, applied after decoding
};

// Views into `file`, which must outlive the result. Throws Error "SUBJECT: ..." for a file that is not such a model, is
// cut short, or holds rules that the library cannot follow safely.
SentencePieceModel parse_sentencepiece_model(std::string_view file, const std::string& subject);

// Empty, or what is wrong with compiled normalisation rules (see character_map.cpp).
std::string character_map_problem(std::string_view rules);

}  // namespace bam::text
