// Byte pair encoding: which neighbours merge, and in which order. All tokenizers of ours that merge do it here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/shard.h"

namespace bam::text {

using io::Token;

// Two neighbouring symbols become one. Of all pairs in a word the one of the least rank merges first, of equal ranks
// the leftmost.
struct Merge {
  Token left = 0;
  Token right = 0;
  Token merged = 0;
  std::uint32_t rank = 0;
};

class MergeTable {
 public:
  static constexpr std::uint32_t kNever = 0xFFFFFFFF;

  MergeTable() : MergeTable(std::vector<Merge>()) {}
  // Of two merges of one pair the later counts.
  explicit MergeTable(const std::vector<Merge>& merges);

  struct Found {
    std::uint32_t rank = kNever;
    Token merged = 0;
  };
  Found find(Token left, Token right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t slot = slot_of(key);; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].found;
      if (slots_[slot].key == kEmpty) return {};
    }
  }

  std::uint32_t ranks() const { return ranks_; }  // all are below

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kEmpty;
    Found found;
  };

  static std::uint64_t key_of(Token left, Token right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
  }
  std::size_t slot_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::uint32_t ranks_ = 0;
};

// Merges the symbols of one word. Keeps its memory; one per thread.
class WordMerger {
 public:
  // In place; the symbols behind the returned number are left over. Time grows as the number of symbols and of merges,
  // but for the sorting of places of one rank that do not come in order.
  std::size_t merge(const MergeTable& table, Token* symbols, std::size_t count);

 private:
  struct Node {
    Token symbol;
    std::uint32_t previous;
    std::uint32_t next;
    std::uint32_t rank;  // of the pair with the next; kNever for none, or where this symbol is gone
    Token merged;
  };
  struct Place {  // of a merge that may be due
    std::uint32_t rank;
    std::uint32_t node;
  };
  struct Bucket {
    std::vector<std::uint32_t> nodes;
    bool is_sorted = true;
  };

  static std::size_t merge_short(const MergeTable& table, Token* symbols, std::size_t count);
  std::size_t merge_long(const MergeTable& table, Token* symbols, std::size_t count);
  void link(const MergeTable& table, const Token* symbols, std::size_t count);
  void look_up(const MergeTable& table, std::uint32_t node);
  void note(std::uint32_t node);
  bool open_next_bucket();
  void apply(const MergeTable& table, std::uint32_t node);

  std::vector<Node> nodes_;
  std::vector<std::int32_t> bucket_of_rank_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<std::uint32_t> ranks_;  // of the buckets in use: a heap, the least in front
  std::vector<Place> early_;          // a heap: merges of a rank not above the open bucket's, the least in front
  std::vector<std::uint32_t> open_;   // what is left of the open bucket is behind open_at_
  std::size_t open_at_ = 0;
  std::uint32_t open_rank_ = 0;
  bool is_open_ = false;
};

// The merges of a vocabulary of which only the texts and their ranks are known, as in tiktoken and SentencePiece files:
// any two neighbours merge that stand for an entry together. `units` takes a text apart into the symbols that words
// begin with, whose ids are below `symbols` together with those of the entries.
//
// Inside the bounds of an entry the merges of a longer word are those of the entry alone, as long as none crosses the
// bounds. So an entry is only ever made by the last merge that makes it alone: one merge for each.
struct RankedText {
  std::string_view text;
  Token id = 0;
  std::uint32_t rank = 0;
};
std::vector<Merge> derive_merges(const std::vector<RankedText>& entries,
                                 const std::function<void(std::string_view, std::vector<RankedText>&)>& units);

}  // namespace bam::text
