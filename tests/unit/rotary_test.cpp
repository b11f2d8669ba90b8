// boxes: kernels
#include <complex>

#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

std::vector<double> frequencies(Index pairs, double theta = 500000) {
  std::vector<double> inverse;
  for (Index k = 0; k < pairs; ++k) {
    inverse.push_back(std::pow(theta, -static_cast<double>(k) / static_cast<double>(pairs)));
  }
  return inverse;
}

Call table_call(Index first, Index length, const std::vector<double>& inverse, double magnitude) {
  return [&inverse, first, length, magnitude](Bench& bench) {
    const Shape shape{length, static_cast<Index>(inverse.size()), 2};
    bench->rotary_table({inverse, first, magnitude, bench.out("table", shape, DType::f32, rounding(DType::f32))});
  };
}

Call rotary_call(const Values& x, const Values& table, DType dtype, bool inverse) {
  return [&x, &table, dtype, inverse](Bench& bench) {
    // Two products and their sum, which may cancel.
    const Tolerance tolerance = rounding(dtype) + Tolerance{.of_largest = 2 * roundoff(DType::f32)};
    bench->rotary({bench.inout("x", x, dtype, tolerance), bench.in(table), inverse});
  };
}

Values angles(Index first, Index length, Index pairs) {
  const auto inverse = frequencies(pairs);
  return run_on_ref(table_call(first, length, inverse, 1)).at("table");
}

}  // namespace

TEST_CASE("rotary: tables agree with ref to one rounding, also far out") {
  for_each_backend([](const std::string& device, DType) {
    for (const Index first : {0, 255, 131071, 511000, 10000000}) {
      for (const Index pairs : {1, 4, 7, 32}) {
        const auto inverse = frequencies(pairs);
        for (const Index length : {0, 1, 2, 129}) compare(device, table_call(first, length, inverse, 1));
        compare(device, table_call(first, 3, inverse, 1.2079441541679836));
      }
    }
  });
}

TEST_CASE("rotary: every size agrees with ref, both ways") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index dim : {2, 4, 6, 8, 10, 14, 16, 18, 24, 32, 48, 64, 100, 128}) {
      for (const Index length : {0, 1, 3, 33}) {
        const Values x = normal({2, length, 3, dim}, 1);
        const Values table = angles(500, length, dim / 2);
        for (const bool inverse : {false, true}) compare(device, rotary_call(x, table, dtype, inverse));
      }
    }
  });
}

TEST_CASE("rotary: what is not a number stays in its pair") {
  for_each_backend([](const std::string& device, DType dtype) {
    Values x = normal({1, 4, 2, 20}, 1);
    x[5] = x[100] = std::nan("");
    compare(device, rotary_call(x, angles(7, 4, 10), dtype, false));
  });
}

TEST_CASE("rotary: ref is a multiplication by e^(i angle)") {
  const Values x = normal({1, 3, 2, 8}, 1);
  const auto inverse = frequencies(4);
  const double magnitude = 1.5;
  const auto table = run_unrounded(table_call(70000, 3, inverse, magnitude)).at("table");
  const auto turned = run_unrounded(rotary_call(x, table, DType::f32, false)).at("x");
  for (Index i = 0; i < x.count(); i += 2) {
    const long double angle = static_cast<long double>(70000 + i / 16) * inverse[static_cast<std::size_t>(i % 8 / 2)];
    const auto expected = std::complex<long double>(x[i], x[i + 1]) * std::polar(1.5L, angle);
    CHECK(turned[i] == Approx(static_cast<double>(expected.real())).epsilon(1e-10));
    CHECK(turned[i + 1] == Approx(static_cast<double>(expected.imag())).epsilon(1e-10));
  }
}

TEST_CASE("rotary: the inverse turns back, and is the gradient") {
  Values x = normal({2, 3, 2, 6}, 1);
  const Values table = angles(11, 3, 3);
  const auto forward = [&] { return run_unrounded(rotary_call(x, table, DType::f32, false)).at("x"); };
  const auto back = run_unrounded(rotary_call(forward(), table, DType::f32, true)).at("x");
  for (Index i = 0; i < x.count(); ++i) CHECK(back[i] == Approx(x[i]).epsilon(1e-6));  // the table is rounded
  const Values dout = normal(x.shape, 2);
  const auto gradient = run_unrounded(rotary_call(dout, table, DType::f32, true)).at("x");
  check_gradient("x", x, gradient, [&] { return dot(forward(), dout); });
}

TEST_CASE("rotary: neighbours differ at every position") {
  // 256 and 257, 131071 and 131072 are one number in bf16.
  for_each_backend([](const std::string& device, DType) {
    const auto inverse = frequencies(16);
    for (const Index first : {256, 131071}) {
      std::string fault;
      const auto table = run_once(device, 1, 0, table_call(first, 2, inverse, 1), fault)[0].values;
      for (Index k = 0; k < 8; ++k) CHECK(table[2 * k] != table[32 + 2 * k]);
    }
  });
}
