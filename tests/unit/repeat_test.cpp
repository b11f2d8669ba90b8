// boxes: kernels
// Routines: whatever a backend keeps of them, each time does what the ops would do one by one.
#include <numeric>

#include "base/error.h"
#include "support/closeness.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

constexpr Index kCount = 1000;

template <typename Body>
void for_each_backend_once(const Body& body) {
  for_each_backend([&](const std::string& device, DType dtype) {
    if (dtype == DType::f32) body(shared_backend(device, 1));
  });
}

std::vector<double> ramp(double first) {
  std::vector<double> values(kCount);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// Adds up a vector of the backend's; what it needs besides is its own.
struct Adding {
  explicit Adding(Backend& backend) : x(backend, DType::f32, {kCount}), total(backend, DType::f64, {1}) {}
  void operator()(Backend& backend) const {
    backend.fill_zero(total);
    backend.sum({.x = x, .total = total});
  }
  Tensor x, total;
};

}  // namespace

TEST_CASE("repeat: what stands in tensors is looked up every time") {
  for_each_backend_once([](Backend& backend) {
    const Adding adding(backend);
    Routine routine;
    for (const double first : {1.0, -7.0, 30.0, 500.0, 2.0}) {
      to_backend(backend, adding.x, ramp(first));
      backend.repeat(routine, [&] { adding(backend); });
      CHECK(to_host(backend, adding.total)[0] == kCount * first + kCount * (kCount - 1) / 2.0);
    }
  });
}

TEST_CASE("repeat: every number of an optimizer's step that differs from step to step") {
  for_each_backend_once([](Backend& backend) {
    const auto steps = [&](bool repeats) {
      const Tensor param(backend, DType::f32, {40}), grad(backend, DType::f32, {40}), m(backend, DType::f32, {40}),
          v(backend, DType::f32, {40}), sizes(backend, DType::f32, {4}), totals(backend, DType::f64, {1});
      for (const Tensor* each : {&param, &m, &v}) backend.fill_zero(*each);
      Routine routine;
      for (Index step = 1; step < 12; ++step) {
        const StepSizes now = step_sizes({}, step, 0.1 / static_cast<double>(step), 0.1);
        backend.copy_in(sizes, {&now, DType::f64, {4}});
        to_backend(backend, grad, normal({40}, static_cast<std::uint64_t>(step)).at);
        const auto ops = [&] {
          backend.fill_zero(totals);
          backend.sum({.x = grad, .total = totals, .squares = true});
          backend.optimizer_step(
              {.param = param, .grad = grad, .m = m, .v = v, .sizes = sizes, .totals = totals, .clip = 5});
        };
        if (repeats) {
          backend.repeat(routine, ops);
        } else {
          ops();
        }
      }
      return to_host(backend, param);
    };
    CHECK(steps(true) == steps(false));
  });
}

TEST_CASE("repeat: what others keep meanwhile is left alone") {
  for_each_backend_once([](Backend& backend) {
    const Adding adding(backend);
    to_backend(backend, adding.x, ramp(0));
    Routine routine;
    std::vector<Tensor> others;
    for (int i = 0; i < 6; ++i) {
      backend.repeat(routine, [&] { adding(backend); });
      for (int j = 0; i >= 2 && j < 20; ++j) {  // by then it is known what the routine takes
        to_backend(backend, others.emplace_back(backend, DType::f32, Shape{100}), std::vector<double>(100, 5));
      }
    }
    CHECK(to_host(backend, adding.total)[0] == kCount * (kCount - 1) / 2.0);
    for (const Tensor& each : others) CHECK(to_host(backend, each) == std::vector<double>(100, 5));
  });
}

TEST_CASE("repeat: a routine that fails, and one that asks for copies, do so every time") {
  for_each_backend_once([](Backend& backend) {
    const Adding adding(backend);
    Routine wrong, copying;
    for (int i = 0; i < 5; ++i) {
      std::string text;
      try {
        backend.repeat(wrong, [&] { backend.sum({.x = adding.x, .total = {}}); });
      } catch (const Error& error) {
        text = error.what();
      }
      CHECK(text.find("total is missing") != std::string::npos);
      backend.repeat(copying, [&] {
        to_backend(backend, adding.x, ramp(i));
        adding(backend);
      });
      CHECK(to_host(backend, adding.total)[0] == kCount * i + kCount * (kCount - 1) / 2.0);
    }
  });
}

TEST_CASE("repeat: an id that is out of its range is told of") {
  for_each_backend_once([](Backend& backend) {
    const Tensor tokens(backend, DType::i32, {1, 3}), weight(backend, DType::f32, {5, 2}),
        out(backend, DType::f32, {1, 3, 2});
    backend.fill_zero(weight);
    Routine routine;
    for (const std::int32_t last : {4, 2, 0, 5, 1, -1, 3}) {
      const std::int32_t ids[] = {0, 1, last};
      backend.copy_in(tokens, {ids, DType::i32, {1, 3}});
      std::string text;
      try {
        backend.repeat(routine, [&] { backend.embedding_forward({tokens, weight, {}, out}); });
        backend.synchronize();
      } catch (const Error& error) {
        text = error.what();
      }
      const std::string expected = last == 5    ? "embedding_forward: tokens has 5 at 2, expected below 5"
                                   : last == -1 ? "embedding_forward: tokens has -1 at 2, expected at least 0"
                                                : "";
      CHECK(text == expected);
    }
  });
}
