// The generators of CPython's random module and of NumPy's legacy functions, number for number, so that samples which
// were defined by a Python program can be made again. For anything new: base/rng.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"

namespace bam {

// MT19937 (Matsumoto and Nishimura 1998).
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed);
  explicit MersenneTwister(std::span<const std::uint32_t> key);  // at least one word

  std::uint32_t next();

 private:
  void refill();

  std::array<std::uint32_t, 624> state_{};
  std::size_t position_ = 624;
};

// random.Random(seed).
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  std::uint32_t bits32() { return twister_.next(); }   // getrandbits(32); a wider number takes its low word first
  std::uint64_t below(std::uint64_t bound);            // _randbelow, the index that choice() takes; 0 < bound <= 2^32
  double uniform();                                    // random()
  Index integer(Index low, Index high);                // randint: both ends belong to it
  Index index(Index size);                             // the index that each of choices() takes
  std::vector<Index> sample(Index size, Index count);  // sample(range(size), count); 0 <= count <= size

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) std::swap(items[i], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  MersenneTwister twister_;
};

// numpy.random.seed(seed).
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : twister_(seed) {}

  Index integer(Index low, Index end);  // randint: `end` does not belong to it; 0 < end - low <= 2^32

 private:
  MersenneTwister twister_;
};

}  // namespace bam
