// boxes: text io base
#include "text/bpe.h"

#include <algorithm>

#include "base/rng.h"
#include "support/catch.h"

using namespace bam::test;
using namespace bam::text;

namespace {

// One merge after the other, each looked for from the left.
std::vector<Token> merged_plainly(const std::vector<Merge>& merges, std::vector<Token> symbols) {
  for (;;) {
    const Merge* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (const Merge& merge : merges) {
        if (merge.left != symbols[i] || merge.right != symbols[i + 1]) continue;
        if (best == nullptr || merge.rank < best->rank) {
          best = &merge;
          place = i;
        }
      }
    }
    if (best == nullptr) return symbols;
    symbols[place] = best->merged;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// Pairs of what there is already, each once; `ranks` is how many ranks there are.
std::vector<Merge> random_merges(bam::Rng& rng, Token letters, int count, std::uint32_t ranks) {
  std::vector<Merge> merges;
  Token next = letters;
  while (static_cast<int>(merges.size()) < count) {
    const auto left = static_cast<Token>(rng.below(static_cast<std::uint64_t>(next)));
    const auto right = static_cast<Token>(rng.below(static_cast<std::uint64_t>(next)));
    const bool is_known = std::any_of(merges.begin(), merges.end(),
                                      [&](const Merge& merge) { return merge.left == left && merge.right == right; });
    if (is_known) continue;
    const auto rank =
        ranks == 0 ? static_cast<std::uint32_t>(merges.size()) : static_cast<std::uint32_t>(rng.below(ranks));
    merges.push_back({left, right, next++, rank});
  }
  return merges;
}

}  // namespace

TEST_CASE("bpe: words of any length merge in the order of ranks, the leftmost first") {
  bam::Rng rng(2);
  WordMerger merger;
  for (int round = 0; round < 300; ++round) {
    const auto letters = static_cast<Token>(1 + rng.below(4));
    // Ranks in order, few of them, or many in any order.
    const std::uint32_t ranks = round % 3 == 0 ? 0 : round % 3 == 1 ? 3 : 1000;
    const std::vector<Merge> merges = random_merges(rng, letters, 1 + static_cast<int>(rng.below(40)), ranks);
    const MergeTable table(merges);
    WordMerger fresh;
    for (const std::size_t length : {1, 2, 3, 31, 32, 33, 63, 64, 65, 97, 200}) {
      std::vector<Token> symbols(length);
      for (Token& symbol : symbols) symbol = static_cast<Token>(rng.below(static_cast<std::uint64_t>(letters)));
      const std::vector<Token> expected = merged_plainly(merges, symbols);
      std::vector<Token> windows = symbols;
      windows.resize(fresh.merge(table, windows.data(), windows.size()));
      INFO("round " << round << ", " << length << " symbols");
      CHECK(windows == expected);
      std::vector<Token> by_rank = symbols;
      by_rank.resize(merger.merge_by_rank(table, by_rank.data(), by_rank.size()));
      CHECK(by_rank == expected);
    }
  }
}

TEST_CASE("bpe: a chain of merges along a whole word gives up windows") {
  // Each symbol only merges with the one before it once that is taken: the first decides about all others.
  const Token a = 0, b = 1;
  std::vector<Merge> merges = {{b, a, 2, 0}, {a, a, 3, 1}};
  const MergeTable table(merges);
  for (const bool begins_with_b : {false, true}) {
    std::vector<Token> symbols(20'000, a);
    if (begins_with_b) symbols[0] = b;
    const std::size_t pairs = begins_with_b ? 9'999 : 10'000;
    WordMerger merger;
    const std::size_t left = merger.merge(table, symbols.data(), symbols.size());
    CHECK(left == pairs + (begins_with_b ? 1 : 0));
    CHECK(symbols[0] == (begins_with_b ? 2 : 3));
    CHECK(std::count(symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(left), Token{3}) ==
          static_cast<std::ptrdiff_t>(pairs));
  }
}

TEST_CASE("bpe: of two merges of one pair the later counts, and others do not merge") {
  const MergeTable table({{0, 1, 5, 7}, {0, 1, 6, 3}});
  CHECK(table.find(0, 1).merged == 6);
  CHECK(table.find(0, 1).rank == 3);
  CHECK(table.find(1, 0).rank == MergeTable::kNever);
  CHECK(MergeTable().find(0, 0).rank == MergeTable::kNever);
}

TEST_CASE("bpe: merges follow from texts and ranks") {
  const std::vector<RankedText> entries = {{"a", 0, 0},  {"b", 1, 1},   {"c", 2, 2},    {"ab", 3, 3},
                                           {"bc", 4, 4}, {"abc", 5, 5}, {"abca", 6, 6}, {"cc?", 7, 7}};
  const auto units = [](std::string_view text, std::vector<RankedText>& parts) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      parts.push_back({text.substr(i, 1), static_cast<Token>(text[i] == '?' ? 9 : text[i] - 'a'), 0});
    }
  };
  const std::vector<Merge> merges = derive_merges(entries, units);
  const auto has = [&](Token left, Token right, Token merged) {
    return std::any_of(merges.begin(), merges.end(), [&](const Merge& merge) {
      return merge.left == left && merge.right == right && merge.merged == merged;
    });
  };
  CHECK(merges.size() == 4);
  CHECK(has(0, 1, 3));
  CHECK(has(1, 2, 4));
  CHECK(has(3, 2, 5));  // and not a + bc: ab comes before bc
  CHECK(has(5, 0, 6));
}
