// boxes: kernels
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

constexpr OptimizerKind kKinds[] = {OptimizerKind::radam, OptimizerKind::adamw};

struct Inputs {
  Values param, grad, m, v;
};

Inputs make(const Shape& shape) {
  Inputs in{normal(shape, 1), normal(shape, 2), normal(shape, 3, 0.3), normal(shape, 4, 0.5)};
  for (double& each : in.v.at) each = each * each + 1e-3;
  return in;
}

struct Setting {
  OptimizerRule rule;
  Index step = 1;
  double learning_rate = 0;
  double weight_decay = 0;
  Values totals{};
  double clip = 0;
};

Setting setting_of(OptimizerKind kind, Index step, double learning_rate, double weight_decay = 0) {
  return {{.kind = kind}, step, learning_rate, weight_decay};
}

// One step with these settings, on these tensors.
Call step_call(const Inputs& in, const Setting& setting) {
  return [&in, setting](Bench& bench) {
    const StepSizes sizes = step_sizes(setting.rule, setting.step, setting.learning_rate, setting.weight_decay);
    OptimizerStepArgs args;
    args.beta1 = setting.rule.beta1;
    args.beta2 = setting.rule.beta2;
    args.clip = setting.clip;
    // One update is the quotient of two sums that were rounded, times the rate.
    const Tolerance moment = few_roundings(DType::f32, 4);
    const Tolerance update{.absolute = 100 * roundoff(DType::f32) * setting.learning_rate};
    args.param = bench.inout("param", in.param, DType::f32, few_roundings(DType::f32, 2) + update);
    args.grad = bench.in(in.grad);
    args.m = bench.inout("m", in.m, DType::f32, moment + Tolerance{.absolute = 2 * roundoff(DType::f32)});
    args.v = bench.inout("v", in.v, DType::f32, moment);
    args.sizes = bench.in(Values{{4}, {sizes.decay, sizes.rate, sizes.root_scale, sizes.floor}});
    if (setting.totals.count() > 0) args.totals = bench.in(setting.totals, DType::f64);
    bench->optimizer_step(args);
  };
}

}  // namespace

TEST_CASE("optimizer_step: every size and step agrees with ref") {
  for_each_backend([](const std::string& device, DType) {
    for (const OptimizerKind kind : kKinds) {
      for (const Index size : {0, 1, 3, 7, 8, 15, 16, 17, 33, 100, 1000, 40000}) {
        const Inputs in = make({size});
        compare(device, step_call(in, setting_of(kind, 7, 0.1, 0.1)));
      }
      for (const Index step : {1, 2, 3, 4, 5, 6, 7, 8, 20, 1000, 1000000}) {
        INFO("step " << step);
        const Inputs in = make({5, 9});
        compare(device, step_call(in, setting_of(kind, step, 0.01)));
      }
    }
  });
}

TEST_CASE("optimizer_step: every setting agrees with ref") {
  const Inputs in = make({77});
  for_each_backend([&in](const std::string& device, DType) {
    for (const OptimizerKind kind : kKinds) {
      for (const double beta2 : {0.9, 0.95, 0.999}) {
        for (const double norm : {0.0, 0.5, 30.0}) {
          for (const double weight_decay : {0.0, 0.1, 3.0}) {
            Setting setting = setting_of(kind, 9, 0.03, weight_decay);
            setting.rule = {kind, 0.8, beta2, 1e-3};
            setting.totals = {{2}, {norm * norm, -7}};
            for (const double clip : {0.0, 1.0}) {
              setting.clip = clip;
              compare(device, step_call(in, setting));
            }
          }
        }
      }
    }
  });
}

TEST_CASE("optimizer_step: gradients shrink to the norm that is asked for") {
  for_each_backend([](const std::string& device, DType) {
    Inputs in = make({9});
    Setting setting = setting_of(OptimizerKind::radam, 1, 0.1);
    setting.totals = {{1}, {16}};
    setting.clip = 0.5;
    const auto clipped = run_on_ref(step_call(in, setting));
    compare(device, step_call(in, setting));
    setting.clip = 0;
    for (double& each : in.grad.at) each = 0.125 * rounded(each, DType::f32);
    const auto shrunk = run_on_ref(step_call(in, setting));
    for (Index i = 0; i < 9; ++i) CHECK(clipped.at("m")[i] == Approx(shrunk.at("m")[i]).epsilon(1e-6));
  });
}

TEST_CASE("optimizer_step: nothing is changed where a total is not finite") {
  for_each_backend([](const std::string& device, DType) {
    const Inputs in = make({21});
    for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      for (const auto& totals : {std::vector<double>{odd, 1}, {1, odd}}) {
        Setting setting = setting_of(OptimizerKind::adamw, 3, 0.1, 0.1);
        setting.clip = 1;
        setting.totals = {{2}, totals};
        compare(device, step_call(in, setting));
        const auto got = run_on_ref(step_call(in, setting));
        CHECK(got.at("param").at == rounded(in.param, DType::f32).at);
        CHECK(got.at("m").at == rounded(in.m, DType::f32).at);
        CHECK(got.at("v").at == rounded(in.v, DType::f32).at);
      }
    }
  });
}

TEST_CASE("optimizer_step: nothing moves without a gradient, what is not a number stays in its place") {
  for_each_backend([](const std::string& device, DType) {
    for (const OptimizerKind kind : kKinds) {
      Inputs in = make({40});
      for (const Index i : {0, 17}) in.grad[i] = in.m[i] = in.v[i] = 0;
      in.grad[20] = std::nan("");
      for (const Index step : {1, 10}) {
        const auto call = step_call(in, setting_of(kind, step, 0.1));
        compare(device, call);
        CHECK(run_on_ref(call).at("param")[17] == rounded(in.param[17], DType::f32));
      }
    }
  });
}

TEST_CASE("optimizer_step: AdamW by hand") {
  // The first step's m_hat is g and its v_hat is g^2: a step of lr against g's sign, after the decay.
  const Inputs in{{{2}, {2, -3}}, {{2}, {0.25, -8}}, filled({2}, 0), filled({2}, 0)};
  auto got = run_unrounded(step_call(in, setting_of(OptimizerKind::adamw, 1, 0.01, 0.1)));
  CHECK(got["param"][0] == Approx(2 * 0.999 - 0.01));
  CHECK(got["param"][1] == Approx(-3 * 0.999 + 0.01));
  CHECK(got["m"][0] == Approx(0.025));
  CHECK(got["v"][1] == Approx(3.2));
  // m = 0.9 x 1 + 0.1 x 3 = 1.2, v = 0.95 x 4 + 0.05 x 9 = 4.25; 1 - 0.9^2 = 0.19, 1 - 0.95^2 = 0.0975.
  const Inputs later{{{1}, {0}}, {{1}, {3}}, {{1}, {1}}, {{1}, {4}}};
  Setting setting = setting_of(OptimizerKind::adamw, 2, 1);
  setting.rule.eps = 0.5;
  got = run_unrounded(step_call(later, setting));
  CHECK(got["param"][0] == Approx(-(1.2 / 0.19) / (std::sqrt(4.25 / 0.0975) + 0.5)));
}

TEST_CASE("optimizer_step: RAdam by hand") {
  // Under a constant gradient g from the start, m_hat = g and v = g^2 (1 - beta2^t): the step is lr g while rho <= 5,
  // and lr rect afterwards. With beta2 = 0.95, rho_inf = 39 and rho = 39 - 2 t 0.95^t / (1 - 0.95^t):
  //   t = 1: 1     t = 5: 4.79, not above 5     t = 6: 5.70, rect = sqrt(1.6965 x 3.6965 x 39 / (35 x 37 x 5.6965))
  const double g = 0.5;
  double param = 1;
  double m = 0;
  double v = 0;
  const auto step = [&](Index t) {
    const Inputs in{{{1}, {param}}, {{1}, {g}}, {{1}, {m}}, {{1}, {v}}};
    Setting setting = setting_of(OptimizerKind::radam, t, 0.1);
    setting.rule.eps = 0;
    auto got = run_unrounded(step_call(in, setting));
    const double moved = param - got["param"][0];
    param = got["param"][0];
    m = got["m"][0];
    v = got["v"][0];
    return moved;
  };
  for (Index t = 1; t <= 5; ++t) CHECK(step(t) == Approx(0.1 * g));
  const double rho = 39 - 12 * 0.735091890625 / 0.264908109375;
  CHECK(rho == Approx(5.7011).epsilon(1e-4));
  CHECK(step(6) == Approx(0.1 * std::sqrt((rho - 4) * (rho - 2) * 39 / (35 * 37 * rho))));
  for (Index t = 7; t <= 400; ++t) step(t);
  CHECK(step(401) == Approx(0.1).epsilon(1e-6));  // rho has reached rho_inf
}
