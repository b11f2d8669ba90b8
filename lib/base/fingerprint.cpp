#include "base/fingerprint.h"

#include <cstdint>
#include <cstring>

// The value at one point, modulo the prime 2^61 - 1, of the polynomial whose coefficients are the bytes, seven at a
// time (Carter and Wegman): inputs of n bytes that differ have the same one at n / 7 points at most.
namespace bam {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::size_t kWordBytes = 7;

// Of a number below 2^123.
constexpr std::uint64_t remainder_of(Wide number) {
  const std::uint64_t once = static_cast<std::uint64_t>(number & kPrime) + static_cast<std::uint64_t>(number >> 61U);
  const std::uint64_t twice = (once & kPrime) + (once >> 61U);
  return twice >= kPrime ? twice - kPrime : twice;
}

constexpr std::uint64_t kPoint = 0x0D6E8FEB86659FD9;
constexpr std::uint64_t kPoint2 = remainder_of(Wide{kPoint} * kPoint);
constexpr std::uint64_t kPoint3 = remainder_of(Wide{kPoint2} * kPoint);
constexpr std::uint64_t kPoint4 = remainder_of(Wide{kPoint3} * kPoint);

std::uint64_t word_at(const char* bytes, std::size_t count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

// Of bytes with another one behind them.
std::uint64_t word_at(const char* bytes) {
  return word_at(bytes, kWordBytes + 1) & ((std::uint64_t{1} << (8 * kWordBytes)) - 1);
}

}  // namespace

Index fingerprint(std::string_view bytes, Index before) {
  auto value = static_cast<std::uint64_t>(before);
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  // Four words at a time, so that the multiplications do not wait for each other.
  for (; left > 4 * kWordBytes; left -= 4 * kWordBytes, at += 4 * kWordBytes) {
    value =
        remainder_of(Wide{value} * kPoint4 + Wide{word_at(at)} * kPoint3 + Wide{word_at(at + kWordBytes)} * kPoint2 +
                     Wide{word_at(at + 2 * kWordBytes)} * kPoint + word_at(at + 3 * kWordBytes));
  }
  while (left > 0) {
    const std::size_t count = left < kWordBytes ? left : kWordBytes;
    value = remainder_of(Wide{value} * kPoint + word_at(at, count));
    at += count;
    left -= count;
  }
  return static_cast<Index>(remainder_of(Wide{value} * kPoint + bytes.size()));
}

}  // namespace bam
