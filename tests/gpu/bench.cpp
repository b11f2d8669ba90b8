// gpu_bench DEVICE [FOLDER] - what the CUDA backend reaches beside two ceilings of the same run: a large copy and a
// large matrix product. One row a case: case, milliseconds, rate, its unit, the ceiling's rate, share. Times are
// medians by the host's clock over many calls between two waits for the device; inputs are random.
//   attention   causal, prior and SSMax in the full form: forward counts 4 d T^2 / 2 operations a head, backward 2.5
//               times that
//   step        a training step, forward, backward and optimizer: 6 operations a matrix parameter and token, and
//               12 L T D / 2 a token for attention
//   prefill     reading a long text in chunks, dense and with certified skipping, its rate as if nothing were skipped
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "kernels/registry.h"
#include "model/kv_cache.h"
#include "model/training_pass.h"
#include "train/optimizer.h"

namespace bam {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds a call: the median of five groups, each of as many calls as take a tenth of a second.
double seconds_of(Backend& backend, const std::function<void()>& call) {
  constexpr double kGroup = 0.1;
  constexpr int kGroups = 5;
  const auto group = [&](int calls) {
    const double start = now_s();
    for (int i = 0; i < calls; ++i) call();
    backend.synchronize();
    return (now_s() - start) / calls;
  };
  group(1);
  const int calls = std::clamp(static_cast<int>(kGroup / group(1)), 1, 1000);
  std::vector<double> seconds;
  for (int i = 0; i < kGroups; ++i) seconds.push_back(group(calls));
  std::sort(seconds.begin(), seconds.end());
  return seconds[kGroups / 2];
}

void row(const std::string& name, double seconds, double work, const char* unit, double ceiling) {
  const double rate = work / seconds * 1e-9;
  std::printf("%s\t%.4g\t%.4g\t%s\t%.4g\t%.3f\n", name.c_str(), 1e3 * seconds, rate, unit, ceiling, rate / ceiling);
  std::fflush(stdout);
}

// Normal numbers; a large tensor repeats the first million.
Tensor random_tensor(Backend& backend, DType dtype, const Shape& shape, std::uint64_t seed) {
  constexpr Index kNumbers = Index{1} << 20;
  Tensor tensor(backend, dtype, shape);
  std::vector<float> values(static_cast<std::size_t>(std::min(shape.count(), kNumbers)));
  Rng rng(seed);
  for (float& value : values) value = static_cast<float>(rng.normal());
  const TensorView flat = tensor.view().as({shape.count()});
  for (Index first = 0; first < shape.count(); first += kNumbers) {
    const Index count = std::min(kNumbers, shape.count() - first);
    backend.copy_in(rows(flat, first, count), {values.data(), DType::f32, {count}});
  }
  return tensor;
}

double copy_ceiling(Backend& backend) {
  constexpr Index kCount = Index{1} << 28;
  const Tensor from = random_tensor(backend, DType::f32, {kCount}, 1);
  const Tensor to(backend, DType::f32, {kCount});
  const double bytes = 8.0 * static_cast<double>(kCount);
  const double seconds = seconds_of(backend, [&] { backend.cast({from, to}); });
  row("ceiling copy", seconds, bytes, "GB/s", bytes / seconds * 1e-9);
  return bytes / seconds * 1e-9;
}

double matrix_ceiling(Backend& backend, DType dtype) {
  constexpr Index kSize = 8192;
  const Tensor a = random_tensor(backend, dtype, {kSize, kSize}, 1);
  const Tensor b = random_tensor(backend, dtype, {kSize, kSize}, 2);
  const Tensor c(backend, dtype, {kSize, kSize});
  const double operations = 2 * std::pow(static_cast<double>(kSize), 3);
  const double seconds = seconds_of(backend, [&] { backend.matmul({.a = a, .b = b, .c = c, .transpose_b = true}); });
  row("ceiling product " + std::string(name_of(dtype)), seconds, operations, "GFLOP/s", operations / seconds * 1e-9);
  return operations / seconds * 1e-9;
}

// Forward, backward and decoding of one layer's attention at a width of 2048.
void attention(Backend& backend, Index dim, Index length, double ceiling, double copy) {
  const Index heads = 2048 / dim;
  const Shape shape{1, length, heads, dim};
  const auto tensor = [&](std::uint64_t seed) { return random_tensor(backend, DType::bf16, shape, seed); };
  const Tensor q = tensor(1), k = tensor(2), v = tensor(3), dout = tensor(4);
  const Tensor prior(backend, DType::f32, {heads, length});
  const Tensor first_key(backend, DType::i32, {1, length});
  backend.fill_zero(first_key);
  std::vector<float> ones(static_cast<std::size_t>(heads), 1.0F);
  const Tensor parameters(backend, DType::f32, {heads});
  backend.copy_in(parameters, {ones.data(), DType::f32, {heads}});
  for (float& each : ones) each = -3;
  const Tensor scale(backend, DType::f32, {heads});
  const Tensor loc(backend, DType::f32, {heads});
  backend.copy_in(scale, {ones.data(), DType::f32, {heads}});
  backend.fill_zero(loc);
  backend.prior_table({parameters, scale, loc, prior});
  const Tensor out(backend, DType::f32, shape), lse(backend, DType::f32, {1, heads, length});
  const Tensor dq(backend, DType::bf16, shape), dk(backend, DType::bf16, shape), dv(backend, DType::bf16, shape);
  const Tensor dprior(backend, DType::f32, {heads, length}), dscale(backend, DType::f32, {heads});
  backend.fill_zero(dprior);
  backend.fill_zero(dscale);
  AttentionForwardArgs forward{q, k, v, prior, first_key, parameters, Ssmax::full, out, lse};
  const double pairs = 0.5 * static_cast<double>(length) * static_cast<double>(length);
  const double operations = 4 * pairs * static_cast<double>(heads * dim);
  const std::string size = " d " + std::to_string(dim) + " T " + std::to_string(length);
  row("attention forward" + size, seconds_of(backend, [&] { backend.attention_forward(forward); }), operations,
      "GFLOP/s", ceiling);
  row("attention backward" + size,
      seconds_of(backend,
                 [&] {
                   backend.attention_backward({q, k, v, prior, first_key, parameters, Ssmax::full, out, lse, dout, dq,
                                               dk, dv, dprior, dscale});
                 }),
      2.5 * operations, "GFLOP/s", ceiling);
  const Tensor bounds(backend, DType::f32, {1, (length + kKeyBlock - 1) / kKeyBlock, heads, 2 * dim});
  const Tensor skipped(backend, DType::f32, {heads});
  backend.key_bounds({k, v, 0, bounds});
  forward.skip_eps = 1e-6;
  forward.key_bounds = bounds;
  forward.skipped = skipped;
  row("attention skipping" + size, seconds_of(backend, [&] { backend.attention_forward(forward); }), operations,
      "GFLOP/s", ceiling);
  AttentionForwardArgs decode{rows(q.view().as({length, heads, dim}), length - 1, 1).as({1, 1, heads, dim}),
                              k,
                              v,
                              prior,
                              rows(first_key.view().as({length}), length - 1, 1).as({1, 1}),
                              parameters,
                              Ssmax::full,
                              rows(out.view().as({length, heads, dim}), 0, 1).as({1, 1, heads, dim}),
                              TensorView{lse.view().data, DType::f32, {1, heads, 1}}};
  row("attention decode" + size, seconds_of(backend, [&] { backend.attention_forward(decode); }),
      4.0 * static_cast<double>(length * heads * dim), "GB/s", copy);
}

ModelConfig config_of(const std::string& preset, Index context) {
  for (const Preset& each : presets()) {
    if (each.name != preset) continue;
    ModelConfig config;
    config.dim = each.dim;
    config.layers = each.layers;
    config.heads = config.kv_heads = each.heads;
    config.ffn = each.ffn;
    config.vocab = 32768;
    config.context = context;
    config.ssmax = Ssmax::full;
    return config;
  }
  throw Error("bench: no preset " + preset);
}

std::vector<std::int32_t> random_ids(Index count, Index vocab) {
  Rng rng(3);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (auto& id : ids) id = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(vocab)));
  return ids;
}

void step(Backend& backend, const std::string& preset, Index context, Index windows, double ceiling) {
  constexpr Index kParts = 4;  // micro-batches a step
  const ModelConfig config = config_of(preset, context);
  Model model(backend, config, Products::bf16);
  initialise(model.parameters(), config, backend, 1);
  model.refresh_products();
  TrainingPass pass(model, windows, context);
  ParameterSet gradients(backend, config, model.real());
  train::Optimizer optimizer(model, {.kind = OptimizerKind::radam, .weight_decay = 0.1, .clip = 1.0});
  Batch batch{windows, context, random_ids(windows * context, config.vocab), {}, {}};
  batch.targets = batch.ids;
  batch.first_key.assign(batch.ids.size(), 0);
  Routine part_of_step, update;
  const double seconds = seconds_of(backend, [&] {
    backend.fill_zero(gradients.all());
    for (Index part = 0; part < kParts; ++part) {
      pass.load(batch, 1.0 / static_cast<double>(kParts * windows * context));
      backend.repeat(part_of_step, [&] { pass.add_gradients(gradients, optimizer.loss_sum()); });
    }
    optimizer.prepare(1e-4, 1e-4);
    backend.repeat(update, [&] {
      optimizer.update(gradients);
      pass.refresh_tables();
    });
    if (!optimizer.finish().are_finite()) throw Error("the step's loss or norm is not finite");
  });
  const auto tokens = static_cast<double>(kParts * windows * context);
  char rate[64];
  std::snprintf(rate, sizeof rate, ", %.0f tokens/s", tokens / seconds);
  row("step " + preset + " T " + std::to_string(context) + rate, seconds,
      tokens * training_flops_per_token(config, context), "GFLOP/s", ceiling);
}

void prefill(Backend& backend, const std::string& preset, Index length, double eps, double ceiling) {
  constexpr Index kChunk = 4096;
  const ModelConfig config = config_of(preset, 512);
  Model model(backend, config, Products::bf16);
  initialise(model.parameters(), config, backend, 1);
  model.refresh_products();
  model.set_reading({.skip_eps = eps});
  Reader reader(model, 1, length, kChunk);
  const std::vector<std::int32_t> ids = random_ids(length, config.vocab);
  const std::vector<std::int32_t> first_key(static_cast<std::size_t>(kChunk), 0);
  std::vector<std::int32_t> targets(static_cast<std::size_t>(kChunk), kNotScored);
  backend.synchronize();
  const double start = now_s();
  for (Index at = 0; at < length; at += kChunk) {
    targets.back() = at + kChunk == length ? 0 : kNotScored;
    reader.read(std::span(ids).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(kChunk)), first_key,
                targets);
  }
  backend.synchronize();
  const double seconds = now_s() - start;
  char skipped[64];
  std::snprintf(skipped, sizeof skipped, eps > 0 ? " skipped %.2f" : " dense", reader.take_counts().share());
  row("prefill " + preset + " " + std::to_string(length) + skipped, seconds,
      static_cast<double>(length) * training_flops_per_token(config, length) / 3, "GFLOP/s", ceiling);
}

int failures = 0;

// A case that does not fit, or fails, is told of and the rest goes on.
void attempt(const std::string& name, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    ++failures;
    std::printf("%s\tfailed: %s\n", name.c_str(), error.what());
  }
}

void run(const std::string& device, Index longest) {
  const auto owner = make_backend(device, 1);
  Backend& backend = *owner;
  std::fprintf(stderr, "%s\n", backend.describe().c_str());
  std::printf("case\tms\trate\tunit\tceiling\tshare\n");
  const double copy = copy_ceiling(backend);
  const double half = matrix_ceiling(backend, DType::bf16);
  matrix_ceiling(backend, DType::f32);
  const Index length = std::min<Index>(16384, longest);
  for (const Index dim : {16, 32, 48, 64, 128}) {
    attempt("attention", [&] { attention(backend, dim, length, half, copy); });
  }
  attempt("step l12", [&] { step(backend, "l12", 512, 64, half); });
  attempt("step l24", [&] { step(backend, "l24", 2048, 8, half); });
  for (Index n = 32768; n <= longest; n *= 4) {
    attempt("prefill", [&] { prefill(backend, "l12", n, 0, half); });
    attempt("prefill", [&] { prefill(backend, "l12", n, 1e-6, half); });
  }
}

}  // namespace
}  // namespace bam

int main(int argc, char** argv) {
  try {
    bam::run(argc > 1 ? argv[1] : "cuda", argc > 2 ? std::atoll(argv[2]) : 524288);
  } catch (const std::exception& error) {
    std::printf("failed\t%s\n", error.what());
    return 1;
  }
  return bam::failures == 0 ? 0 : 1;
}
