// Byte pair encoding: which neighbours merge, and in which order. All tokenizers of ours that merge do it here.
#pragma once

#include <array>
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
  static constexpr std::uint32_t kMostRanks = 1U << 24U;

  MergeTable() : MergeTable(std::vector<Merge>()) {}
  // Of two merges of one pair the later counts.
  explicit MergeTable(const std::vector<Merge>& merges);

  struct Found {
    std::uint32_t rank = kNever;
    Token merged = 0;
  };
  Found find(Token left, Token right) const {
    const std::uint64_t key = key_of(left, right);
    const std::uint64_t mixed = mix(key);
    if ((filter_[(mixed >> 6U) & (filter_.size() - 1)] >> (mixed & 63U) & 1U) == 0) return {};
    for (std::size_t slot = mixed >> shift_;; slot = (slot + 1) & mask_) {
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
  // Its upper bits are the better ones; the lower are made of both halves.
  static std::uint64_t mix(std::uint64_t key) {
    const std::uint64_t product = key * 0x9E3779B97F4A7C15U;
    return product ^ (product >> 32U);
  }

  std::vector<std::uint64_t> filter_;  // a bit for a hash of each pair: most pairs do not merge, and end here
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  std::uint32_t ranks_ = 0;
};

// Merges the symbols of one word. Keeps its memory; one per thread.
//
// Short words: the least pair is looked for again after each merge. Long words are merged in windows that fit the fast
// memory, and then put together: a list of ids is what merging gives if, and only if, merging any two neighbours of it
// alone gives those two. (Until a merge crosses a border of the list, the merges on both sides of that border are those
// of the two neighbours alone, in their order; so the first that crosses one would do so there, too.) Where a border
// does not hold, what lies beside it is merged anew, wider and wider. When that goes on and on, the whole word is
// merged with its pairs in order of rank.
class WordMerger {
 public:
  // In place; the symbols behind the returned number are left over. Time grows as the number of symbols, but for the
  // sorting of places of one rank that do not come in order.
  std::size_t merge(const MergeTable& table, Token* symbols, std::size_t count);

  // By rank, whatever the length: for the tests.
  std::size_t merge_by_rank(const MergeTable& table, Token* symbols, std::size_t count);

 private:
  // An id of a long word, and where its symbols end.
  struct Part {
    Token id = 0;
    std::size_t end = 0;
  };
  // A window that was merged before: runs of one character bring the same ones again and again.
  static constexpr std::size_t kMostRemembered = 64;
  struct Remembered {
    std::size_t count = 0;
    std::size_t left = 0;
    std::array<Token, kMostRemembered> symbols{};
    std::array<Token, kMostRemembered> ids{};
    std::array<std::uint32_t, kMostRemembered> ends{};
  };
  // A border that was tried before.
  struct Tried {
    Token left = -1;
    Token right = -1;
    std::size_t left_symbols = 0;
    std::size_t right_symbols = 0;
    bool holds = false;
  };
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
  static bool is_later(const Place& a, const Place& b) {
    return a.rank > b.rank || (a.rank == b.rank && a.node > b.node);
  }
  struct Bucket {
    std::vector<std::uint32_t> nodes;
    bool is_sorted = true;
  };

  std::size_t merge_long(const MergeTable& table, Token* symbols, std::size_t count);
  const Remembered& merge_window(const MergeTable& table, const Token* symbols, std::size_t count);
  void merge_range(const MergeTable& table, const Token* symbols, std::size_t begin, std::size_t end,
                   std::vector<Part>& parts);
  bool holds(const MergeTable& table, const Token* symbols, std::size_t begin, const Part& left, const Part& right);
  bool append_window(const MergeTable& table, const Token* symbols);
  void order_by_rank(const MergeTable& table, const Token* symbols, std::size_t count);
  void link(const MergeTable& table, const Token* symbols, std::size_t count);
  void look_up(const MergeTable& table, std::uint32_t node);
  void note(std::uint32_t node);
  bool open_next_bucket();
  void apply(const MergeTable& table, std::uint32_t node);

  std::vector<Part> done_;     // what the word gives up to here
  std::vector<Part> window_;   // what comes next
  std::vector<Part> between_;  // what stands between the two when they do not fit
  std::vector<Part> pair_;
  std::vector<Tried> tried_;
  std::vector<Remembered> remembered_;

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
