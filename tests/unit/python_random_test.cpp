// boxes: base
// The numbers are those of CPython 3.11 and NumPy.
#include "base/python_random.h"

#include <cstdio>
#include <numeric>
#include <string>

#include "support/catch.h"

using namespace bam;

namespace {

struct Vectors {
  std::uint64_t seed;
  std::vector<std::uint32_t> words;
  std::vector<double> reals;
  std::vector<Index> integers, choices;
  std::vector<std::string> letters;
  std::vector<Index> samples_of_40, samples_of_1000, shuffled;
  std::vector<std::string> uuids;
  std::vector<Index> numpy;
};

const std::vector<Vectors>& vectors() {
  static const std::vector<Vectors> all = {
      {0,
       {3626764237U, 1654615998U, 3255389356U, 3823568514U, 1806341205U},
       {0.8444218515250481, 0.7579544029403025, 0.420571580830845, 0.25891675029296335, 0.5112747213686085},
       {7463343, 8056020, 1679215, 5343902, 9577766, 9152513, 7793667, 6088743, 8995970, 7007071},
       {864, 394, 776, 911, 430, 41, 265, 988, 523, 497},
       {"VTKGN", "KUHMP", "XNHTQ"},
       {24, 26, 2, 16, 32, 31, 25, 19, 30, 22, 37, 13},
       {864, 394, 776, 911, 430, 41, 265, 988, 523, 497},
       {10, 18, 16, 14, 0, 17, 11, 2, 3, 9, 5, 7, 4, 19, 6, 15, 8, 1, 13, 12},
       {"e3e70682-c209-4cac-a29f-6fbed82c07cd", "f728b4fa-4248-4e3a-8a5d-2f346baa9455",
        "eb1167b3-67a9-4378-bc65-c1e582e2e662"},
       {78268, 53567, 52613, 55891, 31243}},
      {42,
       {2746317213U, 478163327U, 107420369U, 3184935163U, 1181241943U},
       {0.6394267984578837, 0.025010755222666936, 0.27502931836911926, 0.22321073814882275, 0.7364712141640124},
       {2867825, 1419610, 5614226, 5108603, 4744854, 3341057, 2719583, 2458591, 8078673, 1533224},
       {654, 114, 25, 759, 281, 250, 228, 142, 754, 104},
       {"QAHFT", "RXCKA", "FNAFQ"},
       {7, 1, 17, 15, 14, 8, 6, 34, 5, 37, 27, 2},
       {654, 114, 25, 759, 281, 250, 228, 142, 754, 104},
       {19, 5, 14, 4, 9, 13, 15, 18, 6, 12, 17, 10, 1, 11, 2, 16, 7, 8, 0, 3},
       {"bdd640fb-0667-4ad1-9c80-317fa3b1799d", "23b8c1e9-3924-46de-beb1-3b9046685257",
        "bd9c66b3-ad3c-4d6d-9a3d-1fa7bc8960a9"},
       {25795, 10860, 86820, 64886, 16265}},
      {43,
       {165578901U, 1228722198U, 2990260696U, 3275703684U, 618188453U},
       {0.038551839337380045, 0.6962243226370528, 0.14393322139536102, 0.46253225482908755, 0.671646764117767},
       {1646792, 5799696, 3414798, 8760003, 7205509, 2615384, 8603253, 9359620, 1321402, 9624806},
       {39, 292, 712, 780, 147, 982, 473, 378, 687, 715},
       {"BSDMR", "ULMAL", "JWOTL"},
       {2, 18, 9, 29, 23, 6, 29, 38, 31, 38, 1, 32},
       {39, 292, 712, 780, 147, 982, 473, 378, 687, 715},
       {8, 13, 5, 2, 6, 3, 17, 0, 16, 18, 7, 19, 12, 15, 10, 11, 14, 4, 9, 1},
       {"c33f4584-b23b-41d8-893c-d01609de8895", "5eb04521-7668-4387-b59b-a79924d8cea5",
        "18a61865-cafe-4acf-b2cc-dfa7abf10ac2"},
       {24148, 29776, 50753, 93984, 67651}},
  };
  return all;
}

template <typename Draw>
auto several(std::size_t count, Draw draw) {
  std::vector<decltype(draw())> drawn;
  while (drawn.size() < count) drawn.push_back(draw());
  return drawn;
}

// uuid.UUID(int=getrandbits(128), version=4): the first word drawn is the lowest.
std::string uuid(PythonRandom& random) {
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t& word : words) word = random.bits32();
  const std::uint32_t third = (words[2] & 0xFFFF0FFFU) | 0x4000U;
  const std::uint32_t second = (words[1] & 0x3FFFFFFFU) | 0x80000000U;
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", words[3], third >> 16, third & 0xFFFFU, second >> 16,
                second & 0xFFFFU, words[0]);
  return text;
}

}  // namespace

TEST_CASE("python_random: words and reals") {
  for (const Vectors& v : vectors()) {
    PythonRandom words(v.seed);
    CHECK(several(5, [&] { return words.bits32(); }) == v.words);
    PythonRandom reals(v.seed);
    CHECK(several(5, [&] { return reals.uniform(); }) == v.reals);
  }
  PythonRandom wide((std::uint64_t{1} << 63) + 12345);
  CHECK(several(3, [&] { return wide.bits32(); }) == std::vector<std::uint32_t>{1308997459U, 1668775168U, 912389232U});
  PythonRandom late(9);
  for (int i = 0; i < 1300; ++i) late.bits32();
  CHECK(late.bits32() == 777343796U);
}

TEST_CASE("python_random: integers and choices") {
  for (const Vectors& v : vectors()) {
    PythonRandom integers(v.seed);
    CHECK(several(10, [&] { return integers.integer(1000000, 9999999); }) == v.integers);
    PythonRandom choices(v.seed);
    CHECK(several(10, [&] { return static_cast<Index>(choices.below(1000)); }) == v.choices);
    PythonRandom letters(v.seed);
    const auto word = [&] {
      std::string text;
      for (int i = 0; i < 5; ++i) text += static_cast<char>('A' + letters.index(26));
      return text;
    };
    CHECK(several(3, word) == v.letters);
    PythonRandom identifiers(v.seed);
    CHECK(several(3, [&] { return uuid(identifiers); }) == v.uuids);
  }
  PythonRandom widest(7);
  const auto draw = [&] { return widest.below(std::uint64_t{1} << 32); };
  CHECK(several(3, draw) == std::vector<std::uint64_t>{647892279U, 2795742288U, 2301595691U});
  PythonRandom one(5);
  CHECK(one.below(1) == 0);
  CHECK(one.bits32() == 3185950873U);
  CHECK(one.integer(-3, 3) == -1);
}

TEST_CASE("python_random: samples, from a list and from a set") {
  for (const Vectors& v : vectors()) {
    const auto check = [&](Index size, Index count, std::size_t times, const std::vector<Index>& expected) {
      PythonRandom random(v.seed);
      std::vector<Index> all;
      for (std::size_t i = 0; i < times; ++i) {
        for (const Index drawn : random.sample(size, count)) all.push_back(drawn);
      }
      CHECK(all == expected);
    };
    check(40, 4, 3, v.samples_of_40);
    check(1000, 5, 2, v.samples_of_1000);
  }
  // On both sides of the size at which CPython turns from one to the other: 21, and 85 for 6 to 21 of them.
  PythonRandom small(7);
  CHECK(small.sample(21, 5) == std::vector<Index>{10, 4, 12, 1, 2});
  CHECK(small.sample(22, 5) == std::vector<Index>{17, 3, 11, 18, 1});
  PythonRandom large(7);
  CHECK(large.sample(100, 8) == std::vector<Index>{41, 19, 50, 83, 6, 9, 68, 12});
  CHECK(large.sample(90, 10) == std::vector<Index>{46, 74, 7, 64, 27, 4, 11, 55, 53, 8});
  CHECK(large.sample(85, 7) == std::vector<Index>{30, 11, 70, 54, 7, 72, 15});
  CHECK(large.sample(86, 7) == std::vector<Index>{28, 80, 74, 7, 73, 50, 6});
  CHECK(large.sample(3, 0).empty());
  CHECK(large.sample(1, 1) == std::vector<Index>{0});
}

TEST_CASE("python_random: shuffles") {
  for (const Vectors& v : vectors()) {
    std::vector<Index> items(20);
    std::iota(items.begin(), items.end(), Index{0});
    PythonRandom random(v.seed);
    random.shuffle(items);
    CHECK(items == v.shuffled);
    std::vector<Index> none;
    random.shuffle(none);
    CHECK(none.empty());
  }
}

TEST_CASE("python_random: NumPy's legacy integers") {
  for (const Vectors& v : vectors()) {
    NumpyRandom random(static_cast<std::uint32_t>(v.seed));
    CHECK(several(5, [&] { return random.integer(10000, 99999); }) == v.numpy);
    CHECK(random.integer(7, 8) == 7);
  }
}
