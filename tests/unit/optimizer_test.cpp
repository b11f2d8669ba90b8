// boxes: train model kernels base
#include "train/optimizer.h"

#include <cmath>
#include <limits>

#include "kernels/registry.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::train;

namespace {

ModelConfig small_config() {
  return {.dim = 8, .layers = 1, .heads = 2, .kv_heads = 2, .ffn = 8, .vocab = 11, .context = 4};
}

void fill(const ParameterSet& set, Backend& backend, float value) {
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const std::vector<float> values(static_cast<std::size_t>(set.infos()[i].shape.count()), value);
    backend.copy_in(set[i], {values.data(), DType::f32, set.infos()[i].shape});
  }
}

double first_value(const ParameterSet& set, const char* name, Backend& backend) {
  const TensorView view = set.named(name);
  std::vector<double> values(static_cast<std::size_t>(view.count()));
  backend.copy_out({values.data(), DType::f64, view.shape}, view);
  return values.front();
}

struct Bench {
  std::unique_ptr<Backend> backend = make_backend("ref", 1);
  Model model{*backend, small_config(), Products::real};
  ParameterSet gradients{*backend, small_config(), backend->real()};
  Bench() {
    fill(model.parameters(), *backend, 1);
    fill(gradients, *backend, 0.5);
  }
  double value(const char* name) const { return first_value(model.parameters(), name, *backend); }
};

}  // namespace

TEST_CASE("optimizer: decay is for matrices alone, priors have their own rate, frozen parameters stay") {
  Bench bench;
  Optimizer optimizer(bench.model, {.weight_decay = 0.5, .clip = 0});
  const double norm = optimizer.apply(bench.gradients, 0.1, 0.01);
  Index trained = 0;
  for (const ParameterInfo& info : bench.model.parameters().infos()) {
    if (info.trainable) trained += info.shape.count();
  }
  CHECK(trained == count_parameters(small_config()) - 2);  // prior_loc of two heads
  CHECK(norm == Approx(0.5 * std::sqrt(static_cast<double>(trained))).epsilon(1e-12));
  // RAdam's first step is lr x gradient.
  CHECK(bench.value("layers/0/wq") == Approx(1 - 0.1 * 0.5 - 0.1 * 0.5));
  CHECK(bench.value("token_embedding") == Approx(1 - 0.1 * 0.5 - 0.1 * 0.5));
  CHECK(bench.value("final_norm") == Approx(1 - 0.1 * 0.5));
  CHECK(bench.value("layers/0/ssmax_scale") == Approx(1 - 0.1 * 0.5));
  CHECK(bench.value("layers/0/prior_shape") == Approx(1 - 0.01 * 0.5));
  CHECK(bench.value("layers/0/prior_loc") == 1.0);
  CHECK(first_value(optimizer.v(), "layers/0/prior_loc", *bench.backend) == 0.0);
  CHECK(optimizer.step() == 1);
}

TEST_CASE("optimizer: gradients are clipped by their global norm") {
  Bench clipped, scaled;
  Optimizer one(clipped.model, {.weight_decay = 0, .clip = 2});
  const double norm = one.apply(clipped.gradients, 0.1, 0.1);
  REQUIRE(norm > 2);
  fill(scaled.gradients, *scaled.backend, static_cast<float>(0.5 * 2 / (norm + 1e-6)));
  Optimizer two(scaled.model, {.weight_decay = 0, .clip = 0});
  two.apply(scaled.gradients, 0.1, 0.1);
  CHECK(clipped.value("layers/0/wo") == Approx(scaled.value("layers/0/wo")).epsilon(1e-7));
}

TEST_CASE("optimizer: gradients that are not numbers change nothing") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Bench bench;
    Optimizer optimizer(bench.model, {});
    bench.backend->copy_in(bench.gradients.named("layers/0/attn_norm"),
                           {std::vector<float>(8, bad).data(), DType::f32, {8}});
    const std::string message = test::error_of([&] { optimizer.apply(bench.gradients, 0.1, 0.1); });
    CHECK(test::contains(message, "not finite at step 1"));
    CHECK(optimizer.step() == 0);
    CHECK(bench.value("layers/0/wq") == 1.0);
    CHECK(first_value(optimizer.m(), "layers/0/wq", *bench.backend) == 0.0);
  }
}
