// boxes: base
#include "base/rng.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/catch.h"

using namespace bam;

namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

// xoshiro256++ as Blackman and Vigna publish it (prng.di.unimi.it), to be checked against the vectors that other
// implementations pin, and then to check ours.
struct Published {
  std::uint64_t s[4];

  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t next() {
    const std::uint64_t result = rotl(s[0] + s[3], 23) + s[0];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
  }
};

}  // namespace

TEST_CASE("rng: mix64 is splitmix64") {
  std::uint64_t x = 1234567;
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                       4593380528125082431ULL, 16408922859458223821ULL}) {
    CHECK(mix64(x += kGolden) == expected);
  }
}

TEST_CASE("rng: next is xoshiro256++") {
  Published published{{1, 2, 3, 4}};
  for (const std::uint64_t expected : {41943041ULL, 58720359ULL, 3588806011781223ULL, 3591011842654386ULL,
                                       9228616714210784205ULL, 9973669472204895162ULL, 14011001112246962877ULL,
                                       12406186145184390807ULL, 15849039046786891736ULL, 10450023813501588000ULL}) {
    CHECK(published.next() == expected);
  }
  for (const std::uint64_t seed : {0ULL, 1ULL, 42ULL, ~0ULL}) {
    for (const std::uint64_t stream : {0ULL, 7ULL}) {
      std::uint64_t x = mix64(seed + kGolden) ^ mix64(stream * 2 + 1);
      Published same{};
      for (std::uint64_t& word : same.s) word = mix64(x += kGolden);
      Rng rng(seed, stream);
      for (int i = 0; i < 100; ++i) REQUIRE(rng.next() == same.next());
    }
  }
}

TEST_CASE("rng: seeds and streams give different numbers, each the same ones again") {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t stream = 0; stream < 100; ++stream) firsts.insert(Rng(seed, stream).next());
  }
  CHECK(firsts.size() == 10000);
  CHECK(Rng(5, 6).next() == Rng(5, 6).next());
}

TEST_CASE("rng: below is uniform and within its bound") {
  Rng rng(1);
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 7ULL, 64ULL}) {
    std::vector<double> seen(bound, 0);
    const int draws = 20000;
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t x = rng.below(bound);
      REQUIRE(x < bound);
      ++seen[x];
    }
    const double expected = draws / static_cast<double>(bound);
    for (const double count : seen) CHECK(std::abs(count - expected) <= 5 * std::sqrt(expected));
  }
  // A bound just above 2^63 shows the bias of a plain remainder: half of all numbers would come twice as often.
  const std::uint64_t bound = (1ULL << 63) + (1ULL << 62);
  int low = 0;
  for (int i = 0; i < 9000; ++i) low += rng.below(bound) < (1ULL << 62) ? 1 : 0;
  CHECK(std::abs(low - 3000) < 250);
}

TEST_CASE("rng: uniform and normal have their moments") {
  Rng rng(2);
  const int draws = 200000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0, mean = 0;
  double smallest = 1, largest = 0;
  int beyond_two = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = rng.uniform();
    smallest = std::min(smallest, u);
    largest = std::max(largest, u);
    mean += u / draws;
    const double x = rng.normal();
    REQUIRE(std::isfinite(x));
    sum += x / draws;
    squares += x * x / draws;
    cubes += x * x * x / draws;
    fourths += x * x * x * x / draws;
    beyond_two += std::abs(x) > 2 ? 1 : 0;
  }
  CHECK((smallest >= 0 && smallest < 1e-4 && largest < 1 && largest > 1 - 1e-4));
  CHECK(mean == Approx(0.5).margin(0.004));
  CHECK(sum == Approx(0).margin(0.012));
  CHECK(squares == Approx(1).margin(0.016));
  CHECK(cubes == Approx(0).margin(0.05));
  CHECK(fourths == Approx(3).margin(0.15));
  CHECK(beyond_two == Approx(0.0455 * draws).epsilon(0.04));
}

TEST_CASE("rng: a permutation meets every number once") {
  std::vector<std::uint64_t> sizes = {1, 2, 3, 5, 6, 100, 1000};
  for (int k = 2; k <= 17; ++k) {
    for (const std::uint64_t around : {-1, 0, 1}) sizes.push_back((1ULL << k) + around);
  }
  for (const std::uint64_t size : sizes) {
    for (const std::uint64_t seed : {0, 1, 12345}) {
      const Permutation permutation(size, seed);
      std::vector<bool> met(size, false);
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t to = permutation(i);
        if (to >= size || met[to]) FAIL("size " << size << " seed " << seed << ": " << i << " goes to " << to);
        met[to] = true;
      }
    }
  }
  SUCCEED();
}

TEST_CASE("rng: a permutation of more numbers than memory holds") {
  for (const std::uint64_t size : {(1ULL << 40) + 1, (1ULL << 62) - 1, ~0ULL}) {
    const Permutation permutation(size, 3);
    std::set<std::uint64_t> met;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      met.insert(permutation(i));
      met.insert(permutation(size - 1 - i));
    }
    CHECK(met.size() == 2000);
    CHECK(*met.rbegin() < size);
    // Spread over the range, not kept in order.
    CHECK(*met.begin() < size / 100);
    CHECK(*met.rbegin() > size - size / 100);
  }
}

TEST_CASE("rng: the seeds of a permutation reach every place alike") {
  // Ten places of the result for ten places of the argument. (A handful of numbers does worse: four rounds over two
  // bits leave one pair of five 30 % too likely.)
  constexpr std::uint64_t kSize = 1000;
  constexpr int kSeeds = 400;
  std::vector<double> seen(100, 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Permutation permutation(kSize, static_cast<std::uint64_t>(seed));
    for (std::uint64_t i = 0; i < kSize; ++i) ++seen[i / 100 * 10 + permutation(i) / 100];
  }
  const double expected = kSeeds * 10;
  for (const double count : seen) CHECK(std::abs(count - expected) <= 5 * std::sqrt(expected));
}
