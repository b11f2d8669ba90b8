// boxes: kernels
// The vector functions by instruction set, which no other test reaches one by one.
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/isa.h"
#include "support/catch.h"

using namespace bam;
using namespace bam::cpu;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename Body>
void for_each_isa(Body body) {
  for (const Isa isa : kAllIsas) {
    const SimdKernels* kernels = find_simd_kernels(isa);
    if (kernels == nullptr) continue;
    INFO("instruction set " << std::string(name_of(isa)));
    body(*kernels);
  }
}

using ArrayFunction = void (*)(const float*, float*, Index);

std::vector<float> values_of(ArrayFunction function, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  function(x.data(), y.data(), static_cast<Index>(x.size()));
  return y;
}

// Distance from the true value in units of its last place, over an even grid.
double worst_error_ulp(ArrayFunction function, double (*truth)(double), double low, double high) {
  constexpr int kPoints = 200001;  // not a multiple of any vector length
  std::vector<float> x(kPoints);
  for (int i = 0; i < kPoints; ++i)
    x[static_cast<std::size_t>(i)] = static_cast<float>(low + (high - low) * i / (kPoints - 1));
  const std::vector<float> y = values_of(function, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = truth(static_cast<double>(x[i]));
    const double ulp = std::ldexp(1.0, std::ilogb(want) - 23);
    worst = std::max(worst, std::abs(static_cast<double>(y[i]) - want) / ulp);
  }
  return worst;
}

float from_bits(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

}  // namespace

TEST_CASE("simd: the portable kernels are there, and the best of this CPU are among those it has") {
  CHECK(find_simd_kernels(Isa::portable) != nullptr);
  CHECK(find_simd_kernels(best_isa()) != nullptr);
}

TEST_CASE("simd: exponentials to 2 units in the last place") {
  for_each_isa([](const SimdKernels& kernels) {
    CHECK(worst_error_ulp(kernels.exp, &std::exp, -87.0, 88.0) < 2.0);
    CHECK(worst_error_ulp(kernels.exp, &std::exp, -1.0, 1.0) < 2.0);
    CHECK(worst_error_ulp(kernels.exp2, &std::exp2, -126.0, 127.0) < 2.0);
    CHECK(worst_error_ulp(kernels.exp2, &std::exp2, -1.0, 1.0) < 2.0);
  });
}

TEST_CASE("simd: exponentials at the ends, of infinity and of NaN") {
  for_each_isa([](const SimdKernels& kernels) {
    for (const ArrayFunction function : {kernels.exp, kernels.exp2}) {
      // The NaN with every bit set is one whose bits, shifted, would make a number.
      const std::vector<float> x{0.0f,
                                 -0.0f,
                                 -kInfinity,
                                 -1e30f,
                                 -200.0f,
                                 kInfinity,
                                 1e30f,
                                 200.0f,
                                 from_bits(0x7fffffffu),
                                 from_bits(0xffc00000u)};
      const std::vector<float> y = values_of(function, x);
      CHECK(y[0] == 1.0f);
      CHECK(y[1] == 1.0f);
      for (const std::size_t i : {2, 3, 4}) CHECK(y[i] == 0.0f);
      for (const std::size_t i : {5, 6, 7}) CHECK(y[i] == kInfinity);
      for (const std::size_t i : {8, 9}) CHECK(std::isnan(y[i]));
    }
  });
}

TEST_CASE("simd: bf16 holds every value it has and rounds others to the nearest, ties to even") {
  for_each_isa([](const SimdKernels& kernels) {
    std::vector<Bf16> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Bf16>(i);
    std::vector<float> wide(all.size());
    std::vector<Bf16> back(all.size());
    kernels.widen(all.data(), wide.data(), 65536);
    kernels.narrow(wide.data(), back.data(), 65536);
    int faults = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool nan = (i & 0x7f80u) == 0x7f80u && (i & 0x7fu) != 0;
      if (std::bit_cast<std::uint32_t>(wide[i]) != static_cast<std::uint32_t>(i) << 16) ++faults;
      if (back[i] != (nan ? (all[i] | 0x40) : all[i])) ++faults;
    }
    CHECK(faults == 0);

    struct Rounding {
      std::uint32_t from;
      Bf16 to;
    };
    const Rounding roundings[] = {{0x3f808000u, 0x3f80}, {0x3f818000u, 0x3f82}, {0x3f808001u, 0x3f81},
                                  {0x3f807fffu, 0x3f80}, {0x7f7fffffu, 0x7f80}, {0x7f800001u, 0x7fc0},
                                  {0xffffffffu, 0xffff}, {0x00000001u, 0x0000}, {0xbf818000u, 0xbf82}};
    for (const Rounding& r : roundings) {
      const float x = from_bits(r.from);
      Bf16 y = 0;
      kernels.narrow(&x, &y, 1);
      CHECK(y == r.to);
    }
  });
}
