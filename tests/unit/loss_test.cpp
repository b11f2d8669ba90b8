// boxes: kernels
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

enum class Gradient { none, apart, in_place };

struct Inputs {
  Values logits, targets;
  double grad_scale = 1;
};

Inputs make(Index rows, Index vocabulary, double size = 3) {
  return {normal({rows, vocabulary}, 1, size), whole({rows}, 2, vocabulary), 0.37};
}

// `logit_size` is the size of the logits: what a softmax knows about its exponents is that times their roundoff.
Call loss_call(const Inputs& in, Gradient gradient, DType dtype, double logit_size = 16, bool hit = true) {
  return [&in, gradient, dtype, logit_size, hit](Bench& bench) {
    const Shape& shape = in.logits.shape;
    CrossEntropyArgs args;
    const Tolerance nll = cross_entropy_tolerance(shape[1], logit_size);
    const DType result = gradient == Gradient::in_place ? DType::f32 : dtype;
    const Tolerance dlogits = rounding(result) + Tolerance{.absolute = nll.absolute * in.grad_scale};
    args.logits = gradient == Gradient::in_place ? bench.inout("dlogits", in.logits, result, dlogits)
                                                 : ConstTensorView(bench.in(in.logits));
    args.targets = bench.in(in.targets, DType::i32);
    args.nll = bench.out("nll", {shape[0]}, DType::f32, nll);
    if (hit) args.hit = bench.out("hit", {shape[0]}, DType::i32, kExact);
    if (gradient == Gradient::apart) args.dlogits = bench.out("dlogits", shape, result, dlogits);
    if (gradient == Gradient::in_place) {
      args.dlogits = {const_cast<void*>(args.logits.data), args.logits.dtype, args.logits.shape};
    }
    if (in.grad_scale != 1) args.grad_scale = bench.in(Values{{1}, {in.grad_scale}});
    bench->cross_entropy(args);
  };
}

void check_case(const std::string& device, DType dtype, const Inputs& in, double logit_size = 16) {
  INFO(in.logits.shape.text());
  for (const Gradient gradient : {Gradient::none, Gradient::apart, Gradient::in_place}) {
    compare(device, loss_call(in, gradient, dtype, logit_size));
  }
  compare(device, loss_call(in, Gradient::none, dtype, logit_size, false));
}

}  // namespace

TEST_CASE("loss: every size agrees with ref") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index vocabulary : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 100, 257, 1000}) {
      for (const Index rows : {0, 1, 3, 20}) check_case(device, dtype, make(rows, vocabulary));
    }
    check_case(device, dtype, make(2, 50257));
    check_case(device, dtype, make(300, 65));
  });
}

TEST_CASE("loss: rows that are not scored, whatever stands in them") {
  for_each_backend([](const std::string& device, DType dtype) {
    Inputs in = make(20, 33);
    for (const Index row : {0, 7, 19}) in.targets[row] = row == 7 ? -100 : -1;
    in.logits[7 * 33 + 5] = std::nan("");
    check_case(device, dtype, in);
    in.targets = filled({20}, -1);
    check_case(device, dtype, in);
  });
}

TEST_CASE("loss: a tie is a miss") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index rival : {0, 15, 16, 39}) {
      for (const double ahead : {-0.5, 0.0, 0.5}) {  // the target against its rival
        Inputs in{filled({1, 40}, 1), filled({1}, 20), 1};
        in.logits[rival] = 2;
        in.logits[20] = 2 + ahead;
        check_case(device, dtype, in);
        CHECK(run_on_ref(loss_call(in, Gradient::none, dtype)).at("hit")[0] == (ahead > 0 ? 1 : 0));
      }
    }
  });
}

TEST_CASE("loss: logits far beyond what exp can hold") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const double shift : {-3e4, 3e4}) {
      Inputs in = make(20, 100, 30);
      for (double& each : in.logits.at) each += shift;
      check_case(device, dtype, in, 3e4);
    }
  });
}

TEST_CASE("loss: what is not a number stays in its row, an impossible word is none") {
  for_each_backend([](const std::string& device, DType dtype) {
    Inputs in = make(12, 50);
    in.logits[2 * 50 + 49] = std::nan("");
    in.logits[4 * 50 + 3] = HUGE_VAL;
    in.logits[6 * 50 + 8] = -HUGE_VAL;  // another word than the target: probability 0
    in.targets[6] = 9;
    in.logits[8 * 50 + 8] = -HUGE_VAL;  // the target: an infinite loss
    in.targets[8] = 8;
    check_case(device, dtype, in);
  });
}

TEST_CASE("loss: ref agrees with central differences") {
  Inputs in = make(4, 6, 1);
  in.targets[1] = -1;
  const auto got = run_unrounded(loss_call(in, Gradient::apart, DType::f32));
  check_gradient("logits", in.logits, got.at("dlogits"), [&] {
    return in.grad_scale * dot(run_unrounded(loss_call(in, Gradient::none, DType::f32)).at("nll"), filled({4}, 1));
  });
}

TEST_CASE("loss: by hand") {
  // Odds 1 : 2 : 3.
  const Inputs in{
      {{2, 3}, {0, std::log(2.0), std::log(3.0), 5, 5 + std::log(2.0), 5 + std::log(3.0)}}, {{2}, {1, 2}}, 6};
  const auto got = run_unrounded(loss_call(in, Gradient::apart, DType::f32));
  CHECK(got.at("nll")[0] == Approx(std::log(3.0)));
  CHECK(got.at("nll")[1] == Approx(std::log(2.0)));
  CHECK(got.at("hit").at == std::vector<double>{0, 1});
  const double expected[] = {1, -4, 3, 1, 2, -3};
  for (Index i = 0; i < 6; ++i) CHECK(got.at("dlogits")[i] == Approx(expected[i]));
}
