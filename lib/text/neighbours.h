// Which characters stand side by side in the pieces of a vocabulary.
//
// Byte pair encoding merges two neighbours only into a piece of the vocabulary. So nothing is ever merged across two
// characters that no piece holds side by side, and the order of merges on one side does not depend on the other: a text
// may be taken apart there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/types.h"
#include "text/splitter.h"

namespace bam::text {

// A blank counts as U+2581.
class Neighbours {
 public:
  // A piece, or another text that must not be taken apart.
  void add(std::string_view piece);

  // Two characters between which a text may be taken apart. Those of `together` never are.
  bool may_part(char32_t left, char32_t right) const {
    if (left < kAscii && right < kAscii) return !ascii_[left * kAscii + right];
    return may_part_beyond_ascii(left, right);
  }

  // Runs of characters without a piece of their own become one id: never part before such a character.
  void keep_unknown_runs(std::unordered_set<char32_t> known);

  // The last place at which `text` may be taken apart, 0 if there is none.
  Index last_cut(std::string_view text) const;

 private:
  static constexpr char32_t kAscii = 128;
  bool may_part_beyond_ascii(char32_t left, char32_t right) const;
  void join(char32_t left, char32_t right);

  std::vector<bool> ascii_ = std::vector<bool>(kAscii * kAscii);
  std::vector<std::uint64_t> slots_;  // open addressing; pairs beyond ASCII
  std::size_t used_ = 0;
  bool keeps_unknown_runs_ = false;
  std::unordered_set<char32_t> known_;
};

// Takes texts apart wherever that is possible, so that words are short and come again.
std::unique_ptr<Splitter> make_neighbour_splitter(const Neighbours& neighbours);

}  // namespace bam::text
