// boxes: kernels
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

struct Inputs {
  Values gate, up, dout;
};

Inputs make(const Shape& shape, double size = 2) {
  return {normal(shape, 1, size), normal(shape, 2), normal(shape, 3)};
}

Call forward_call(const Inputs& in, DType dtype) {
  return [&in, dtype](Bench& bench) {
    bench->swiglu_forward({bench.in(in.gate, dtype), bench.in(in.up, dtype),
                           bench.out("out", in.gate.shape, dtype, swiglu_tolerance(dtype))});
  };
}

Call backward_call(const Inputs& in, DType dtype, bool in_place) {
  return [&in, dtype, in_place](Bench& bench) {
    const Tolerance tolerance = swiglu_tolerance(dtype);
    if (in_place) {
      const TensorView gate = bench.inout("dgate", in.gate, dtype, tolerance);
      const TensorView up = bench.inout("dup", in.up, dtype, tolerance);
      const TensorView dout = bench.inout("out", in.dout, dtype, tolerance);
      return bench->swiglu_backward({gate, up, dout, gate, up, dout});
    }
    const Shape& shape = in.gate.shape;
    bench->swiglu_backward({bench.in(in.gate, dtype), bench.in(in.up, dtype), bench.in(in.dout, dtype),
                            bench.out("dgate", shape, dtype, tolerance), bench.out("dup", shape, dtype, tolerance),
                            bench.out("out", shape, dtype, tolerance)});
  };
}

void check_case(const std::string& device, DType dtype, const Inputs& in) {
  INFO(in.gate.shape.text());
  compare(device, forward_call(in, dtype));
  for (const bool in_place : {false, true}) compare(device, backward_call(in, dtype, in_place));
}

}  // namespace

TEST_CASE("mlp: every size agrees with ref") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index width : {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 100, 257}) {
      for (const Index rows : {0, 1, 3}) check_case(device, dtype, make({rows, width}));
    }
    check_case(device, dtype, make({129, 333}));
  });
}

TEST_CASE("mlp: gates beyond what exp can hold") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const double size : {1e-4, 30.0, 200.0, 1e6}) check_case(device, dtype, make({3, 100}, size));
  });
}

TEST_CASE("mlp: what is not a number stays in its place") {
  for_each_backend([](const std::string& device, DType dtype) {
    Inputs in = make({3, 40});
    in.gate[17] = in.up[60] = in.dout[119] = std::nan("");
    check_case(device, dtype, in);
    in = make({3, 40});
    in.gate[17] = in.up[60] = HUGE_VAL;
    compare(device, forward_call(in, dtype));
  });
}

TEST_CASE("mlp: ref agrees with central differences") {
  Inputs in = make({3, 5});
  const auto got = run_unrounded(backward_call(in, DType::f32, false));
  const auto forward = [&] { return run_unrounded(forward_call(in, DType::f32)).at("out"); };
  const auto loss = [&] { return dot(forward(), in.dout); };
  CHECK(got.at("out").at == forward().at);
  check_gradient("gate", in.gate, got.at("dgate"), loss);
  check_gradient("up", in.up, got.at("dup"), loss);
}

TEST_CASE("mlp: by hand") {
  // exp(-ln 3) = 1/3: silu(ln 3) = 3/4 ln 3.
  const Inputs in{{{1, 3}, {0, std::log(3.0), -std::log(3.0)}}, {{1, 3}, {5, 8, 4}}, filled({1, 3}, 1)};
  const auto out = run_unrounded(forward_call(in, DType::f32)).at("out");
  CHECK(out[0] == 0);
  CHECK(out[1] == Approx(6 * std::log(3.0)));
  CHECK(out[2] == Approx(-std::log(3.0)));
}
