#include "text/neighbours.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr std::size_t kMostWords = 2048;
constexpr char32_t kBlankSymbol = 0x2581;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

// What is not UTF-8 counts as U+FFFD, one byte each.
constexpr char32_t kReplacement = 0xFFFD;

CodePoint next_character(std::string_view text) {
  const CodePoint point = first_code_point(text);
  return point.bytes == 0 ? CodePoint{kReplacement, 1} : point;
}

char32_t as_text(char32_t character) {
  return character == kBlankSymbol ? U' ' : character;
}

std::size_t slot_of(std::uint64_t key, std::size_t slots) {
  const std::uint64_t product = key * 0x9E3779B97F4A7C15U;
  return static_cast<std::size_t>(product >> 32U ^ product >> 52U) & (slots - 1);
}

}  // namespace

void Neighbours::add(std::string_view piece) {
  char32_t left = 0;
  for (bool is_first = true; !piece.empty(); is_first = false) {
    const CodePoint point = next_character(piece);
    const char32_t right = as_text(point.value);
    if (!is_first) join(left, right);
    left = right;
    piece.remove_prefix(point.bytes);
  }
}

void Neighbours::join(char32_t left, char32_t right) {
  if (left < kAscii && right < kAscii) {
    ascii_[left * kAscii + right] = true;
    return;
  }
  if (4 * (used_ + 1) > slots_.size()) {
    const std::vector<std::uint64_t> before = std::exchange(slots_, {});
    slots_.assign(std::max<std::size_t>(1024, 4 * before.size()), kEmpty);
    used_ = 0;
    for (const std::uint64_t key : before) {
      if (key != kEmpty) join(static_cast<char32_t>(key >> 32U), static_cast<char32_t>(key));
    }
  }
  const std::uint64_t key = std::uint64_t{left} << 32U | right;
  std::size_t slot = slot_of(key, slots_.size());
  while (slots_[slot] != kEmpty && slots_[slot] != key) slot = (slot + 1) & (slots_.size() - 1);
  if (slots_[slot] == kEmpty) ++used_;
  slots_[slot] = key;
}

void Neighbours::keep_unknown_runs(std::unordered_set<char32_t> known) {
  keeps_unknown_runs_ = true;
  known_ = std::move(known);
  // So that the quick answer for ASCII is right too.
  for (char32_t right = 0; right < kAscii; ++right) {
    if (known_.contains(right == ' ' ? kBlankSymbol : right)) continue;
    for (char32_t left = 0; left < kAscii; ++left) join(left, right);
  }
}

bool Neighbours::may_part_beyond_ascii(char32_t left, char32_t right) const {
  if (keeps_unknown_runs_ && !known_.contains(right == U' ' ? kBlankSymbol : right)) return false;
  left = as_text(left);
  right = as_text(right);
  if (left < kAscii && right < kAscii) return !ascii_[left * kAscii + right];
  if (slots_.empty()) return true;
  const std::uint64_t key = std::uint64_t{left} << 32U | right;
  for (std::size_t slot = slot_of(key, slots_.size());; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot] == key) return false;
    if (slots_[slot] == kEmpty) return true;
  }
}

Index Neighbours::last_cut(std::string_view text) const {
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

namespace {

class NeighbourSplitter : public Splitter {
 public:
  explicit NeighbourSplitter(const Neighbours& neighbours) : neighbours_(neighbours) {}

  std::size_t split(std::string_view text, std::size_t from, std::vector<Span>& words) const override {
    CodePoint left = next_character(text.substr(from));
    std::size_t at = from + left.bytes;
    for (std::size_t count = 0; at < text.size() && count < kMostWords;) {
      const CodePoint right = next_character(text.substr(at));
      if (neighbours_.may_part(left.value, right.value)) {
        words.push_back({from, at});
        from = at;
        ++count;
      }
      left = right;
      at += right.bytes;
    }
    if (at == text.size()) {
      words.push_back({from, at});
      from = at;
    }
    return from;
  }

 private:
  const Neighbours& neighbours_;
};

}  // namespace

std::unique_ptr<Splitter> make_neighbour_splitter(const Neighbours& neighbours) {
  return std::make_unique<NeighbourSplitter>(neighbours);
}

}  // namespace bam::text
