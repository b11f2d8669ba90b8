// boxes: kernels
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

struct Inputs {
  Values x, weight;
  double eps;
};

Inputs make(Index rows, Index dim, double size = 1, double eps = 1e-5) {
  Inputs in{normal({rows, dim}, 1, size), normal({dim}, 2), eps};
  if (rows > 2) std::fill_n(in.x.at.begin() + dim, dim, 0.0);  // a row of nothing: eps alone
  return in;
}

Call forward_call(const Inputs& in, DType dtype) {
  return [&in, dtype](Bench& bench) {
    const Index dim = in.weight.count();
    bench->rmsnorm_forward({bench.in(in.x), bench.in(in.weight), in.eps,
                            bench.out("y", in.x.shape, dtype, norm_tolerance(dtype, dim)),
                            bench.out("rstd", {in.x.shape[0]}, DType::f32, norm_tolerance(DType::f32, dim))});
  };
}

Call backward_call(const Inputs& in, const Values& rstd, const Values& dy, const Values& dx, const Values& dweight,
                   DType dtype) {
  return [&, dtype](Bench& bench) {
    const Index rows = in.x.shape[0];
    bench->rmsnorm_backward({bench.in(in.x), bench.in(in.weight), bench.in(rstd), bench.in(dy, dtype),
                             bench.inout("dx", dx, DType::f32, norm_gradient_tolerance(in.weight.count())),
                             bench.inout("dweight", dweight, DType::f32, sum_of_products(DType::f32, rows + 1))});
  };
}

void check_case(const std::string& device, DType dtype, const Inputs& in) {
  INFO("x " << in.x.shape.text() << " eps " << in.eps);
  compare(device, forward_call(in, dtype));
  const Values rstd = run_on_ref(forward_call(in, dtype)).at("rstd");
  const Values dy = normal(in.x.shape, 3);
  const Values dx = normal(in.x.shape, 4);
  const Values dweight = normal(in.weight.shape, 5);
  compare(device, backward_call(in, rstd, dy, dx, dweight, dtype));
}

}  // namespace

TEST_CASE("norm: every size agrees with ref") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index dim : {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 128, 513, 1024}) {
      for (const Index rows : {0, 1, 2, 3, 5, 33}) check_case(device, dtype, make(rows, dim));
    }
    check_case(device, dtype, make(1000, 48));
  });
}

TEST_CASE("norm: small and large rows, every eps") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const double size : {1e-6, 1e-2, 1e3}) {
      for (const double eps : {1e-8, 1e-5, 0.1}) compare(device, forward_call(make(5, 96, size, eps), dtype));
    }
  });
}

TEST_CASE("norm: what is not a number stays in its row") {
  for_each_backend([](const std::string& device, DType dtype) {
    Inputs in = make(9, 50);
    in.x[3 * 50 + 49] = std::nan("");
    check_case(device, dtype, in);  // and is in every sum over rows
    in.x[3 * 50 + 49] = HUGE_VAL;
    compare(device, forward_call(in, dtype));
  });
}

TEST_CASE("norm: ref agrees with central differences") {
  Inputs in = make(4, 6, 1, 0.05);
  const Values dy = normal({4, 6}, 3);
  const Values rstd = run_unrounded(forward_call(in, DType::f32)).at("rstd");
  const auto got = run_unrounded(backward_call(in, rstd, dy, filled({4, 6}, 0), filled({6}, 0), DType::f32));
  const auto loss = [&] { return dot(run_unrounded(forward_call(in, DType::f32)).at("y"), dy); };
  check_gradient("x", in.x, got.at("dx"), loss);
  check_gradient("weight", in.weight, got.at("dweight"), loss);
}

TEST_CASE("norm: by hand") {
  // mean of squares of (1, 7) is 25; with eps 11 it is 36.
  const auto got = run_on_ref(forward_call({{{1, 2}, {1, 7}}, {{2}, {5, 10}}, 0}, DType::f32));
  CHECK(got.at("y")[0] == Approx(1));
  CHECK(got.at("y")[1] == Approx(14));
  CHECK(got.at("rstd")[0] == Approx(0.2));
  CHECK(run_on_ref(forward_call({{{1, 2}, {1, 7}}, {{2}, {5, 10}}, 11}, DType::f32)).at("rstd")[0] == Approx(1.0 / 6));
}
