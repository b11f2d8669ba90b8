#include "base/python_random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace bam {
namespace {

constexpr std::size_t kWords = 624;
constexpr std::size_t kShift = 397;

std::vector<std::uint32_t> words_of(std::uint64_t seed) {
  std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(seed)};
  if (seed >> 32 != 0) words.push_back(static_cast<std::uint32_t>(seed >> 32));
  return words;
}

// sample() keeps a list of what is left where that is smaller than a set of what is taken: this is its bound.
Index largest_pool(Index count) {
  Index bound = 21;
  if (count <= 5) return bound;
  Index power = 1;
  while (power < count * 3) power *= 4;
  return bound + power;
}

}  // namespace

MersenneTwister::MersenneTwister(std::uint32_t seed) {
  state_[0] = seed;
  for (std::size_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<std::uint32_t>(i);
  }
}

MersenneTwister::MersenneTwister(std::span<const std::uint32_t> key) : MersenneTwister(19650218U) {
  std::size_t i = 1;
  std::size_t j = 0;
  const auto mixed = [&](std::uint32_t factor) {
    return state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor);
  };
  const auto advance = [&] {
    if (++i < kWords) return;
    state_[0] = state_[kWords - 1];
    i = 1;
  };
  for (std::size_t k = std::max(kWords, key.size()); k > 0; --k) {
    state_[i] = mixed(1664525U) + key[j] + static_cast<std::uint32_t>(j);
    advance();
    j = (j + 1) % key.size();
  }
  for (std::size_t k = kWords - 1; k > 0; --k) {
    state_[i] = mixed(1566083941U) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000U;
}

void MersenneTwister::refill() {
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7FFFFFFFU);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1U) != 0 ? 0x9908B0DFU : 0U);
  }
  position_ = 0;
}

std::uint32_t MersenneTwister::next() {
  if (position_ == kWords) refill();
  std::uint32_t y = state_[position_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680U;
  y ^= (y << 15) & 0xEFC60000U;
  return y ^ (y >> 18);
}

PythonRandom::PythonRandom(std::uint64_t seed) : twister_(words_of(seed)) {}

std::uint64_t PythonRandom::below(std::uint64_t bound) {
  const auto width = static_cast<int>(std::bit_width(bound));  // 33 for 2^32
  for (;;) {
    std::uint64_t drawn = twister_.next();
    if (width <= 32) {
      drawn >>= 32 - width;
    } else {
      drawn |= std::uint64_t{twister_.next() >> 31} << 32;
    }
    if (drawn < bound) return drawn;
  }
}

double PythonRandom::uniform() {
  const std::uint32_t high = twister_.next() >> 5;
  const std::uint32_t low = twister_.next() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

Index PythonRandom::integer(Index low, Index high) {
  return low + static_cast<Index>(below(static_cast<std::uint64_t>(high - low) + 1));
}

Index PythonRandom::index(Index size) {
  return static_cast<Index>(std::floor(uniform() * static_cast<double>(size)));
}

std::vector<Index> PythonRandom::sample(Index size, Index count) {
  std::vector<Index> taken;
  if (size <= largest_pool(count)) {
    std::vector<Index> pool(static_cast<std::size_t>(size));
    std::iota(pool.begin(), pool.end(), Index{0});
    for (Index i = 0; i < count; ++i) {
      const auto j = static_cast<std::size_t>(below(static_cast<std::uint64_t>(size - i)));
      taken.push_back(pool[j]);
      pool[j] = pool[static_cast<std::size_t>(size - i - 1)];
    }
    return taken;
  }
  std::unordered_set<Index> seen;
  while (std::ssize(taken) < count) {
    const auto j = static_cast<Index>(below(static_cast<std::uint64_t>(size)));
    if (seen.insert(j).second) taken.push_back(j);
  }
  return taken;
}

Index NumpyRandom::integer(Index low, Index end) {
  const auto largest = static_cast<std::uint32_t>(end - low - 1);
  if (largest == 0) return low;
  const std::uint32_t mask = 0xFFFFFFFFU >> std::countl_zero(largest);
  for (;;) {
    const std::uint32_t drawn = twister_.next() & mask;
    if (drawn <= largest) return low + static_cast<Index>(drawn);
  }
}

}  // namespace bam
