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

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * merges.size(), 16));
  slots_.resize(size);
  mask_ = size - 1;
  shift_ = static_cast<unsigned>(64 - std::countr_zero(size));
  for (const Merge& merge : merges) {
    const std::uint64_t key = key_of(merge.left, merge.right);
    std::size_t slot = slot_of(key);
    while (slots_[slot].key != kEmpty && slots_[slot].key != key) slot = (slot + 1) & mask_;
    slots_[slot] = {key, {merge.rank, merge.merged}};
    ranks_ = std::max(ranks_, merge.rank + 1);
  }
}

std::size_t WordMerger::merge(const MergeTable& table, Token* symbols, std::size_t count) {
  if (count < 2) return count;
  return count <= kShortWord ? merge_short(table, symbols, count) : merge_long(table, symbols, count);
}

std::size_t WordMerger::merge_short(const MergeTable& table, Token* symbols, std::size_t count) {
  std::array<std::uint32_t, kShortWord> ranks;
  std::array<Token, kShortWord> merged;
  const auto look_up = [&](std::size_t i) {
    const MergeTable::Found found = table.find(symbols[i], symbols[i + 1]);
    ranks[i] = found.rank;
    merged[i] = found.merged;
  };
  for (std::size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    std::size_t least = 0;
    for (std::size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[least]) least = i;
    }
    if (ranks[least] == MergeTable::kNever) break;
    symbols[least] = merged[least];
    for (std::size_t i = least + 1; i + 1 < count; ++i) {
      symbols[i] = symbols[i + 1];
      ranks[i - 1] = ranks[i];
      merged[i - 1] = merged[i];
    }
    --count;
    if (least > 0) look_up(least - 1);
    if (least + 1 < count) look_up(least);
  }
  return count;
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
    std::push_heap(early_.begin(), early_.end(), [](const Place& a, const Place& b) {
      return a.rank > b.rank || (a.rank == b.rank && a.node > b.node);
    });
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

std::size_t WordMerger::merge_long(const MergeTable& table, Token* symbols, std::size_t count) {
  if (count >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error("a word of " + std::to_string(count) + " symbols, expected less than 2^32");
  }
  if (bucket_of_rank_.size() < table.ranks()) bucket_of_rank_.resize(table.ranks(), -1);
  link(table, symbols, count);
  const auto is_later = [](const Place& a, const Place& b) {
    return a.rank > b.rank || (a.rank == b.rank && a.node > b.node);
  };
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
  std::size_t left = 0;
  for (std::uint32_t i = 0; i < count; i = nodes_[i].next) symbols[left++] = nodes_[i].symbol;
  constexpr std::size_t kKeptNodes = 1 << 16;
  if (nodes_.size() > kKeptNodes) {  // one long word must not hold its memory for ever
    nodes_ = {};
    buckets_ = {};
    free_buckets_ = {};
    open_ = {};
  }
  return left;
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
