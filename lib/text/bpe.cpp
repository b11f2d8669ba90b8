#include "text/bpe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/error.h"

namespace bam::text {
namespace {

// Up to here looking at every pair for the least rank is faster than keeping order.
constexpr std::size_t kShortWord = 64;
constexpr std::size_t kWindow = 32;

// Symbols on one side of a border that does not hold, beyond which windows are given up.
constexpr std::size_t kWidest = 64 * kShortWord;

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * merges.size(), 16));
  slots_.resize(size);
  mask_ = size - 1;
  shift_ = static_cast<unsigned>(64 - std::countr_zero(size));
  filter_.resize(std::max<std::size_t>(size / 16, 1));
  for (const Merge& merge : merges) {
    if (merge.rank >= kMostRanks) throw Error("a merge of rank " + std::to_string(merge.rank) + ", which is too many");
    const std::uint64_t key = key_of(merge.left, merge.right);
    const std::uint64_t mixed = mix(key);
    filter_[(mixed >> 6U) & (filter_.size() - 1)] |= std::uint64_t{1} << (mixed & 63U);
    std::size_t slot = mixed >> shift_;
    while (slots_[slot].key != kEmpty && slots_[slot].key != key) slot = (slot + 1) & mask_;
    slots_[slot] = {key, {merge.rank, merge.merged}};
    ranks_ = std::max(ranks_, merge.rank + 1);
  }
}

namespace {

struct NoEnds {
  void take(std::size_t, std::size_t) {}
};

// Where the symbols of each id end, counted in the symbols of the beginning.
struct Ends {
  std::uint32_t* of;
  void take(std::size_t to, std::size_t from) { of[to] = of[from]; }
};

// The least pair is found by one pass over keys of rank and place, which compilers turn into vector code: no shorter
// list of live pairs is kept, and no pair moves.
template <typename Track>
std::size_t merge_short(const MergeTable& table, Token* symbols, std::size_t count, Track& ends) {
  constexpr std::int32_t kPlaces = static_cast<std::int32_t>(kShortWord);
  constexpr std::int32_t kNoPair = std::numeric_limits<std::int32_t>::max() / kPlaces * kPlaces;
  static_assert(MergeTable::kMostRanks < std::numeric_limits<std::int32_t>::max() / kPlaces);
  alignas(32) std::array<std::int32_t, kShortWord> keys;
  std::array<Token, kShortWord> merged;
  std::array<std::uint8_t, kShortWord> next, previous;
  const auto look_up = [&](std::size_t left, std::size_t right) {
    const MergeTable::Found found = table.find(symbols[left], symbols[right]);
    keys[left] = found.rank == MergeTable::kNever ? kNoPair : static_cast<std::int32_t>(found.rank) * kPlaces;
    merged[left] = found.merged;
  };
  const std::size_t padded = (count + 7) / 8 * 8;
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = static_cast<std::uint8_t>(i + 1);
    previous[i] = static_cast<std::uint8_t>(i - 1);
    if (i + 1 < count) look_up(i, i + 1);
  }
  for (std::size_t i = count - 1; i < padded; ++i) keys[i] = kNoPair;
  for (;;) {
    std::int32_t least = kNoPair;
    for (std::size_t i = 0; i < padded; ++i) least = std::min(least, keys[i] | static_cast<std::int32_t>(i));
    if (least >= kNoPair) break;
    const auto left = static_cast<std::size_t>(least % kPlaces);
    const std::size_t gone = next[left];
    symbols[left] = merged[left];
    ends.take(left, gone);
    keys[gone] = kNoPair;
    next[left] = next[gone];
    if (next[left] < count) {
      previous[next[left]] = static_cast<std::uint8_t>(left);
      look_up(left, next[left]);
    } else {
      keys[left] = kNoPair;
    }
    if (left > 0) look_up(previous[left], left);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i = next[i]) {
    symbols[kept] = symbols[i];
    ends.take(kept++, i);
  }
  return kept;
}

}  // namespace

std::size_t WordMerger::merge(const MergeTable& table, Token* symbols, std::size_t count) {
  if (count < 2) return count;
  NoEnds ends;
  return count <= kShortWord ? merge_short(table, symbols, count, ends) : merge_long(table, symbols, count);
}

const WordMerger::Remembered& WordMerger::merge_window(const MergeTable& table, const Token* symbols,
                                                       std::size_t count) {
  static_assert(kMostRemembered == kShortWord);
  constexpr std::size_t kWindows = 64;
  if (remembered_.empty()) remembered_.resize(kWindows);
  std::uint64_t mixed = count;
  for (std::size_t i = 0; i < count; ++i)
    mixed = (mixed ^ static_cast<std::uint32_t>(symbols[i])) * 0x9E3779B97F4A7C15U;
  Remembered& window = remembered_[mixed >> 58U];
  if (window.count == count && std::equal(symbols, symbols + count, window.symbols.begin())) return window;
  window.count = count;
  std::copy_n(symbols, count, window.symbols.begin());
  std::copy_n(symbols, count, window.ids.begin());
  Ends ends{window.ends.data()};
  for (std::uint32_t i = 0; i < count; ++i) window.ends[i] = i + 1;
  window.left = merge_short(table, window.ids.data(), count, ends);
  return window;
}

// Appends what the symbols of a range give.
void WordMerger::merge_range(const MergeTable& table, const Token* symbols, std::size_t begin, std::size_t end,
                             std::vector<Part>& parts) {
  const std::size_t count = end - begin;
  if (count > kShortWord) {
    order_by_rank(table, symbols + begin, count);
    for (std::uint32_t i = 0; i < count; i = nodes_[i].next)
      parts.push_back({nodes_[i].symbol, begin + nodes_[i].next});
    return;
  }
  const Remembered& window = merge_window(table, symbols + begin, count);
  for (std::size_t i = 0; i < window.left; ++i) parts.push_back({window.ids[i], begin + window.ends[i]});
}

// Whether the symbols from `begin` on give these two ids.
bool WordMerger::holds(const MergeTable& table, const Token* symbols, std::size_t begin, const Part& left,
                       const Part& right) {
  constexpr std::size_t kTried = 1024;
  if (tried_.empty()) tried_.resize(kTried);
  Tried& tried =
      tried_[(static_cast<std::size_t>(left.id) * 0x9E3779B1U + static_cast<std::size_t>(right.id)) % kTried];
  const std::size_t left_symbols = left.end - begin, right_symbols = right.end - left.end;
  if (tried.left == left.id && tried.right == right.id && tried.left_symbols == left_symbols &&
      tried.right_symbols == right_symbols) {
    return tried.holds;
  }
  pair_.clear();
  merge_range(table, symbols, begin, right.end, pair_);
  const bool found = pair_.size() == 2 && pair_[0].id == left.id && pair_[0].end == left.end && pair_[1].id == right.id;
  tried = {left.id, right.id, left_symbols, right_symbols, found};
  return found;
}

// Puts the window behind what is done. False when that takes too much.
bool WordMerger::append_window(const MergeTable& table, const Token* symbols) {
  const auto begin_of = [](const std::vector<Part>& parts, std::size_t i, std::size_t first) {
    return i == 0 ? first : parts[i - 1].end;
  };
  std::size_t left = 0, right = 0;  // parts on each side that are merged anew
  between_.clear();
  while (!done_.empty()) {
    const std::size_t kept = done_.size() - left;
    const std::size_t begin = begin_of(done_, kept, 0);
    if (left + right > 0) {
      const std::size_t end = right == 0 ? done_.back().end : window_[right - 1].end;
      if (end - begin > kWidest) return false;
      between_.clear();
      merge_range(table, symbols, begin, end, between_);
    }
    const Part& first = between_.empty() ? window_.front() : between_.front();
    const bool left_holds = kept == 0 || holds(table, symbols, begin_of(done_, kept - 1, 0), done_[kept - 1], first);
    const bool right_holds =
        between_.empty() || right == window_.size() ||
        holds(table, symbols, begin_of(between_, between_.size() - 1, begin), between_.back(), window_[right]);
    if (left_holds && right_holds) {
      done_.resize(kept);
      break;
    }
    if (between_.empty() || !right_holds) right = std::min(std::max<std::size_t>(2 * right, 1), window_.size());
    if (!left_holds) left = std::min(std::max<std::size_t>(2 * left, 1), done_.size());
  }
  done_.insert(done_.end(), between_.begin(), between_.end());
  done_.insert(done_.end(), window_.begin() + static_cast<std::ptrdiff_t>(right), window_.end());
  return true;
}

std::size_t WordMerger::merge_long(const MergeTable& table, Token* symbols, std::size_t count) {
  done_.clear();
  for (std::size_t begin = 0; begin < count; begin += kWindow) {
    window_.clear();
    merge_range(table, symbols, begin, std::min(begin + kWindow, count), window_);
    if (!append_window(table, symbols)) return merge_by_rank(table, symbols, count);
  }
  for (std::size_t i = 0; i < done_.size(); ++i) symbols[i] = done_[i].id;
  const std::size_t left = done_.size();
  constexpr std::size_t kKept = 1 << 16;
  if (left > kKept) done_ = {};  // one long word must not hold its memory for ever
  return left;
}

std::size_t WordMerger::merge_by_rank(const MergeTable& table, Token* symbols, std::size_t count) {
  if (count < 2) return count;
  order_by_rank(table, symbols, count);
  std::size_t left = 0;
  for (std::uint32_t i = 0; i < count; i = nodes_[i].next) symbols[left++] = nodes_[i].symbol;
  constexpr std::size_t kKeptNodes = 1 << 16;
  if (nodes_.size() > kKeptNodes) {
    nodes_ = {};
    buckets_ = {};
    free_buckets_ = {};
    open_ = {};
  }
  return left;
}

void WordMerger::link(const MergeTable& table, const Token* symbols, std::size_t count) {
  nodes_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) nodes_[i] = {symbols[i], i - 1, i + 1, MergeTable::kNever, 0};
  for (std::uint32_t i = 0; i + 1 < count; ++i) look_up(table, i);
}

// Sets the rank of the pair that begins at `node`, and remembers it.
void WordMerger::look_up(const MergeTable& table, std::uint32_t node) {
  Node& left = nodes_[node];
  const MergeTable::Found found = table.find(left.symbol, nodes_[left.next].symbol);
  left.rank = found.rank;
  left.merged = found.merged;
  if (found.rank != MergeTable::kNever) note(node);
}

void WordMerger::note(std::uint32_t node) {
  const std::uint32_t rank = nodes_[node].rank;
  if (is_open_ && rank <= open_rank_) {
    early_.push_back({rank, node});
    std::push_heap(early_.begin(), early_.end(), is_later);
    return;
  }
  std::int32_t& number = bucket_of_rank_[rank];
  if (number < 0) {
    if (free_buckets_.empty()) {
      free_buckets_.push_back(static_cast<std::uint32_t>(buckets_.size()));
      buckets_.emplace_back();
    }
    number = static_cast<std::int32_t>(free_buckets_.back());
    free_buckets_.pop_back();
    ranks_.push_back(rank);
    std::push_heap(ranks_.begin(), ranks_.end(), std::greater<>());
  }
  Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
  if (!bucket.nodes.empty() && bucket.nodes.back() > node) bucket.is_sorted = false;
  bucket.nodes.push_back(node);
}

bool WordMerger::open_next_bucket() {
  is_open_ = false;
  if (ranks_.empty()) return false;
  std::pop_heap(ranks_.begin(), ranks_.end(), std::greater<>());
  open_rank_ = ranks_.back();
  ranks_.pop_back();
  const auto number = static_cast<std::uint32_t>(bucket_of_rank_[open_rank_]);
  bucket_of_rank_[open_rank_] = -1;
  Bucket& bucket = buckets_[number];
  open_.swap(bucket.nodes);
  bucket.nodes.clear();
  if (!bucket.is_sorted) std::sort(open_.begin(), open_.end());
  bucket.is_sorted = true;
  free_buckets_.push_back(number);
  open_at_ = 0;
  is_open_ = true;
  return true;
}

void WordMerger::apply(const MergeTable& table, std::uint32_t node) {
  Node& left = nodes_[node];
  Node& right = nodes_[left.next];
  right.rank = MergeTable::kNever;
  left.symbol = left.merged;
  left.next = right.next;
  left.rank = MergeTable::kNever;
  if (left.next < nodes_.size()) {
    nodes_[left.next].previous = node;
    look_up(table, node);
  }
  if (node > 0) look_up(table, nodes_[node].previous);
}

// Leaves the ids in nodes_, each with the place of the next.
void WordMerger::order_by_rank(const MergeTable& table, const Token* symbols, std::size_t count) {
  if (count >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error("a word of " + std::to_string(count) + " symbols, expected less than 2^32");
  }
  if (bucket_of_rank_.size() < table.ranks()) bucket_of_rank_.resize(table.ranks(), -1);
  link(table, symbols, count);
  for (;;) {
    if (open_at_ == open_.size() && early_.empty() && !open_next_bucket()) break;
    Place place{open_rank_, open_at_ < open_.size() ? open_[open_at_] : 0};
    if (open_at_ == open_.size() || (!early_.empty() && is_later(place, early_.front()))) {
      place = early_.front();
      std::pop_heap(early_.begin(), early_.end(), is_later);
      early_.pop_back();
    } else {
      ++open_at_;
    }
    if (nodes_[place.node].rank == place.rank) apply(table, place.node);
  }
  open_.clear();
  open_at_ = 0;
}

std::vector<Merge> derive_merges(const std::vector<RankedText>& entries,
                                 const std::function<void(std::string_view, std::vector<RankedText>&)>& units) {
  std::unordered_map<std::string_view, const RankedText*> known;
  known.reserve(2 * entries.size());
  for (const RankedText& entry : entries) known.emplace(entry.text, &entry);
  std::vector<Merge> merges;
  merges.reserve(entries.size());
  std::vector<RankedText> parts;
  std::vector<const RankedText*> joined;  // the entry that a part and the next make, or null
  for (const RankedText& entry : entries) {
    parts.clear();
    units(entry.text, parts);
    const auto look_up = [&](std::size_t i) {
      const std::string_view both(parts[i].text.data(), parts[i].text.size() + parts[i + 1].text.size());
      const auto found = known.find(both);
      joined[i] = found == known.end() ? nullptr : found->second;
    };
    joined.assign(parts.size(), nullptr);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) look_up(i);
    while (parts.size() > 1) {
      std::size_t least = parts.size();
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        if (joined[i] != nullptr && (least == parts.size() || joined[i]->rank < joined[least]->rank)) least = i;
      }
      if (least == parts.size()) break;
      const RankedText& whole = *joined[least];
      if (parts.size() == 2) merges.push_back({parts[0].id, parts[1].id, whole.id, whole.rank});
      parts[least].text = {parts[least].text.data(), whole.text.size()};
      parts[least].id = whole.id;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(least) + 1);
      joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(least) + 1);
      if (least > 0) look_up(least - 1);
      if (least + 1 < parts.size()) {
        look_up(least);
      } else {
        joined[least] = nullptr;
      }
    }
  }
  return merges;
}

}  // namespace bam::text
