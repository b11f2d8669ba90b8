// Where a text may be cut so that a SentencePiece BPE model gives the parts the ids it gives the whole.
//
// BPE merges two neighbours only into a piece of the vocabulary. So nothing is ever merged across two characters that
// no piece holds side by side, and the order of merges on one side does not depend on the other. That needs a
// normaliser that treats each character by itself. The library needs about 120 bytes of memory per byte of text, and
// its time grows faster than the text.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/types.h"
#include "text/sentencepiece_model.h"

namespace bam::text {

class SentencePieceCuts {
 public:
  explicit SentencePieceCuts(const SentencePieceModel& model);

  // False for unigram models (sums of scores are rounded along the whole text), for normalisers with rules, and where
  // pieces are marked unused (how those are taken apart depends on the text before).
  bool possible() const { return possible_; }

  // The last place at which `text` may be cut, 0 if there is none.
  Index last(std::string_view text) const;

 private:
  bool may_part(char32_t left, char32_t right) const;

  bool possible_ = false;
  std::vector<std::uint64_t> neighbours_;  // sorted; left << 32 | right
  std::unordered_set<char32_t> known_;     // characters of the vocabulary
  bool unknown_runs_ = false;              // neighbouring unknown characters become one id
};

}  // namespace bam::text
