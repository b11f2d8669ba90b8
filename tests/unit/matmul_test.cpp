// boxes: kernels
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

struct Case {
  Index m, n, k;
  bool transpose_a = false, transpose_b = false, accumulate = false;
};

// c is real, or as a and b are when `half_result`.
void check_case(const std::string& device, DType dtype, const Case& c, bool half_result) {
  INFO("m " << c.m << " n " << c.n << " k " << c.k << " ta " << c.transpose_a << " tb " << c.transpose_b << " acc "
            << c.accumulate << " half result " << half_result);
  const Values a = normal(c.transpose_a ? Shape{c.k, c.m} : Shape{c.m, c.k}, 1);
  const Values b = normal(c.transpose_b ? Shape{c.n, c.k} : Shape{c.k, c.n}, 2);
  const Values before = normal({c.m, c.n}, 3);
  const DType result = half_result ? dtype : DType::f32;
  compare(device, [&](Bench& bench) {
    const Tolerance tolerance = sum_of_products(result, c.k);
    bench->matmul({.a = bench.in(a, dtype),
                   .b = bench.in(b, dtype),
                   .c = c.accumulate ? bench.inout("c", before, result, tolerance)
                                     : bench.out("c", before.shape, result, tolerance),
                   .transpose_a = c.transpose_a,
                   .transpose_b = c.transpose_b,
                   .accumulate = c.accumulate});
  });
}

constexpr Index kSizes[] = {1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 128, 129};

}  // namespace

TEST_CASE("matmul: every shape, orientation and dtype agrees with ref") {
  for_each_backend([](const std::string& device, DType dtype) {
    Rng rng(7);
    const auto size = [&] { return kSizes[rng.below(std::size(kSizes))]; };
    for (int i = 0; i < 64; ++i) {
      const bool accumulate = (i & 4) != 0;
      check_case(device, dtype, {size(), size(), size(), (i & 1) != 0, (i & 2) != 0, accumulate},
                 !accumulate && (i & 8) != 0);
    }
  });
}

TEST_CASE("matmul: one row, one column, long sums, and sums that libraries got wrong") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Case& c :
         {Case{1, 1, 1}, Case{1, 1, 1000}, Case{1, 333, 257}, Case{333, 1, 257}, Case{257, 255, 1}, Case{5, 3, 4096},
          Case{1, 512, 128, false, true}, Case{512, 1, 128, true, false}, Case{200, 300, 129, false, true, true},
          Case{129, 127, 513, true, true, true}, Case{33, 80, 63}, Case{65, 17, 63, true, false, true}}) {
      check_case(device, dtype, c, false);
    }
  });
}

TEST_CASE("matmul: nothing in, nothing out") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const bool accumulate : {false, true}) {
      // A sum of no terms is 0, which is not the same as leaving c alone.
      check_case(device, dtype, {3, 5, 0, false, false, accumulate}, false);
      check_case(device, dtype, {0, 5, 4, false, true, accumulate}, false);
      check_case(device, dtype, {3, 0, 4, true, false, accumulate}, false);
    }
  });
}

TEST_CASE("matmul: NaN and infinity stay in their row and column") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      Values a = normal({33, 70}, 1);
      Values b = normal({70, 35}, 2);
      a[4 * 70 + 69] = odd;
      b[12 * 35 + 34] = odd;
      b[69 * 35 + 7] = 0;  // infinity times nothing is not a number
      compare(device, [&](Bench& bench) {
        bench->matmul({.a = bench.in(a, dtype),
                       .b = bench.in(b, dtype),
                       .c = bench.out("c", {33, 35}, DType::f32, sum_of_products(DType::f32, 70))});
      });
    }
  });
}

TEST_CASE("matmul: ref agrees with products worked by hand") {
  const Values a{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const Values b{{3, 2}, {7, 8, 9, 10, 11, 12}};
  const Values before{{2, 2}, {1000, 0, 0, -1000}};
  const auto product = [&](const Values& x, const Values& y, bool transpose_a, bool transpose_b, bool accumulate) {
    return run_on_ref([&](Bench& bench) {
             bench->matmul({bench.in(x), bench.in(y), bench.inout("c", before, DType::f32, kExact), transpose_a,
                            transpose_b, accumulate});
           })["c"]
        .at;
  };
  const Values a_turned{{3, 2}, {1, 4, 2, 5, 3, 6}};
  const Values b_turned{{2, 3}, {7, 9, 11, 8, 10, 12}};
  CHECK(product(a, b, false, false, false) == std::vector<double>{58, 64, 139, 154});
  CHECK(product(a_turned, b, true, false, false) == std::vector<double>{58, 64, 139, 154});
  CHECK(product(a, b_turned, false, true, false) == std::vector<double>{58, 64, 139, 154});
  CHECK(product(a_turned, b_turned, true, true, true) == std::vector<double>{1058, 64, 139, -846});
}
