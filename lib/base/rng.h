// Random numbers that are the same on every machine and compiler: splitmix64 and xoshiro256++ (Blackman and Vigna),
// and distributions of our own, since those of the standard library differ between implementations.
#pragma once

#include <array>
#include <cstdint>

namespace bam {

// Mixes a 64-bit value: a bijection with good avalanche (splitmix64's finaliser).
std::uint64_t mix64(std::uint64_t x);

class Rng {
 public:
  // Streams with the same seed and different numbers are independent.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), without bias; bound > 0
  double uniform();                          // [0, 1), 53 bits
  double normal();                           // mean 0, standard deviation 1

 private:
  std::array<std::uint64_t, 4> state_;
};

// A seeded permutation of [0, size), computed point by point and never stored: a Feistel network over the next even
// number of bits, walked along its cycle until it falls into the range (eight rounds: four leave small ranges uneven;
// at most 4 steps on average).
class Permutation {
 public:
  Permutation(std::uint64_t size, std::uint64_t seed);
  std::uint64_t operator()(std::uint64_t index) const;  // index < size

 private:
  std::uint64_t size_;
  int half_bits_ = 0;
  std::array<std::uint64_t, 8> keys_{};
};

}  // namespace bam
