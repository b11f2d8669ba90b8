#include "base/rng.h"

#include <cmath>
#include <numbers>

namespace bam {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

std::uint64_t rotate_left(std::uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

}  // namespace

std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

Rng::Rng(std::uint64_t seed, std::uint64_t stream) : state_{} {
  std::uint64_t x = mix64(seed + kGolden) ^ mix64(stream * 2 + 1);
  for (auto& word : state_) word = mix64(x += kGolden);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = rotate_left(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  const std::uint64_t reject_under = (0 - bound) % bound;  // 2^64 mod bound: drawing above it leaves no bias
  for (;;) {
    const std::uint64_t x = next();
    if (x >= reject_under) return x % bound;
  }
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed) : size_(size) {
  while (half_bits_ < 32 && (size_ - 1) >> (2 * half_bits_) != 0) ++half_bits_;
  Rng rng(seed, 0x7065726d);
  for (auto& key : keys_) key = rng.next();
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  if (size_ <= 1) return 0;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t x = index;
  do {
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next_right = left ^ (mix64(right + key) & mask);
      left = right;
      right = next_right;
    }
    x = (left << half_bits_) | right;
  } while (x >= size_);
  return x;
}

}  // namespace bam
