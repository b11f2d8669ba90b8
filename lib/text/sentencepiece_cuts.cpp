#include "text/sentencepiece_cuts.h"

#include <algorithm>

#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr char32_t kBlankSymbol = 0x2581;

// The library turns blanks into this symbol before it looks at pieces.
char32_t as_in_pieces(char32_t character) {
  return character == U' ' ? kBlankSymbol : character;
}

bool treats_characters_singly(const SentencePieceModel& model) {
  return model.segmentation == SegmentationType::bpe && model.character_map.empty() && !model.removes_extra_blanks &&
         model.escapes_blanks && !model.blank_is_suffix;
}

}  // namespace

SentencePieceCuts::SentencePieceCuts(const SentencePieceModel& model) : unknown_runs_(!model.byte_fallback) {
  if (!treats_characters_singly(model)) return;
  for (const Piece& piece : model.pieces) {
    if (piece.type == PieceType::unused) return;
    if (piece.type != PieceType::normal && piece.type != PieceType::user_defined) continue;
    std::string_view rest = piece.text;
    char32_t left = 0;
    while (!rest.empty()) {
      const CodePoint point = first_code_point(rest);
      if (point.bytes == 0) return;
      const char32_t right = as_in_pieces(point.value);
      if (rest.size() == piece.text.size()) {
        if (point.bytes == rest.size()) known_.insert(right);
      } else {
        neighbours_.push_back(std::uint64_t{left} << 32U | right);
      }
      left = right;
      rest.remove_prefix(point.bytes);
    }
  }
  std::sort(neighbours_.begin(), neighbours_.end());
  neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
  possible_ = true;
}

bool SentencePieceCuts::may_part(char32_t left, char32_t right) const {
  left = as_in_pieces(left);
  right = as_in_pieces(right);
  if (unknown_runs_ && !known_.contains(right)) return false;
  return !std::binary_search(neighbours_.begin(), neighbours_.end(), std::uint64_t{left} << 32U | right);
}

Index SentencePieceCuts::last(std::string_view text) const {
  if (!possible_) return 0;
  CodePoint right;
  for (std::size_t at = text.size(); at > 0;) {
    std::size_t start = at - 1;
    while (start > 0 && at - start < 4 && is_continuation(text[start])) --start;
    const CodePoint left = first_code_point(text.substr(start, at - start));
    const bool is_whole = left.bytes == at - start;
    if (is_whole && right.bytes > 0 && may_part(left.value, right.value)) return static_cast<Index>(at);
    // Bytes that are not UTF-8 are passed one by one, and not cut beside.
    right = is_whole ? left : CodePoint{};
    at = is_whole ? start : at - 1;
  }
  return 0;
}

}  // namespace bam::text
