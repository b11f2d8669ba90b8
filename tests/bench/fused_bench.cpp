// The ops that are one pass over memory, in bytes read and written, against a copy of large arrays; the arrays are
// larger than the caches. The copy is memcpy, whose stores go past the caches: an op that writes elsewhere than it
// reads has to fetch what it overwrites and pays for that in its share, and one that works in place may pass 1.
#include <functional>

#include "bench/bench.h"

namespace bam::bench {
namespace {

constexpr Index kRows = 16384;
constexpr Index kDim = 768;
constexpr Index kVocab = 32768;
constexpr Index kScoredRows = 768;

double copy_rate(const Table& table, Backend& backend) {
  const Shape shape{kRows * kDim * 4};
  const Tensor from = random_tensor(backend, DType::f32, shape, 1);
  const Tensor to = random_tensor(backend, DType::f32, shape, 2);
  const double bytes = 2.0 * static_cast<double>(from.view().bytes());
  const double seconds = median_seconds([&] { backend.copy_in(to, ConstTensorView(from.view())); });
  const double rate = bytes / seconds * 1e-9;
  table.row("copy", seconds, bytes, "GB/s", rate);
  return rate;
}

struct Run {
  Backend& backend;
  const Table& table;
  double ceiling;

  Tensor make(DType dtype, Shape shape) const { return random_tensor(backend, dtype, shape, 7); }

  // Tensors that are read and written count twice.
  void operator()(const std::string& name, std::initializer_list<TensorView> passes,
                  const std::function<void()>& call) const {
    double bytes = 0;
    for (const TensorView& view : passes) bytes += static_cast<double>(view.bytes());
    const double seconds = median_seconds([&] {
      call();
      backend.synchronize();
    });
    table.row(name, seconds, bytes, "GB/s", ceiling);
  }
};

void norm_and_mlp(const Run& run, DType half, const std::string& suffix) {
  Backend& backend = run.backend;
  const Shape shape{kRows, kDim};
  const Tensor x = run.make(DType::f32, shape), dx = run.make(DType::f32, shape);
  const Tensor weight = run.make(DType::f32, {kDim}), dweight = run.make(DType::f32, {kDim});
  const Tensor rstd = run.make(DType::f32, {kRows});
  const Tensor a = run.make(half, shape), b = run.make(half, shape), c = run.make(half, shape);
  run("rmsnorm_forward" + suffix, {x, a},
      [&] { backend.rmsnorm_forward({.x = x, .weight = weight, .y = a, .rstd = rstd}); });
  run("rmsnorm_backward" + suffix, {x, a, dx, dx}, [&] {
    backend.rmsnorm_backward({.x = x, .weight = weight, .rstd = rstd, .dy = a, .dx = dx, .dweight = dweight});
  });
  run("swiglu_forward" + suffix, {a, b, c}, [&] { backend.swiglu_forward({.gate = a, .up = b, .out = c}); });
  run("swiglu_backward" + suffix, {a, a, b, b, c, c},
      [&] { backend.swiglu_backward({.gate = a, .up = b, .dout = c, .dgate = a, .dup = b, .out = c}); });
  run("add" + suffix, {x, x, a}, [&] { backend.add({.x = x, .y = a}); });
  if (half == DType::bf16) run("cast to" + suffix, {x, a}, [&] { backend.cast({.from = x, .to = a}); });
  const Tensor table = run.make(DType::f32, {512, 24, 2});
  run("rotary" + suffix, {a, a}, [&] {
    backend.rotary({.x = a.view().as({kRows / 512, 512, kDim / 48, 48}), .table = table});
  });
}

void loss(const Run& run, DType half, const std::string& suffix) {
  Backend& backend = run.backend;
  const Tensor logits = run.make(DType::f32, {kScoredRows, kVocab});
  const Tensor dlogits = run.make(half, {kScoredRows, kVocab});
  const Tensor nll = run.make(DType::f32, {kScoredRows});
  Tensor targets(backend, DType::i32, {kScoredRows});
  const std::vector<std::int32_t> ids(kScoredRows, 77);
  backend.copy_in(targets, ConstTensorView{ids.data(), DType::i32, {kScoredRows}});
  run("cross_entropy" + suffix, {logits, dlogits}, [&] {
    backend.cross_entropy({.logits = logits, .targets = targets, .nll = nll, .hit = {}, .dlogits = dlogits});
  });
}

void parameters(const Run& run) {
  Backend& backend = run.backend;
  const Shape shape{kVocab, kDim};
  const Tensor param = run.make(DType::f32, shape), grad = run.make(DType::f32, shape);
  const Tensor m = run.make(DType::f32, shape), v = run.make(DType::f32, shape);
  backend.fill_zero(v);
  const StepSizes now = step_sizes({}, 100, 1e-3, 0);
  const Tensor sizes(backend, DType::f32, {4}), total(backend, DType::f64, {1});
  backend.copy_in(sizes, {&now, DType::f64, {4}});
  backend.fill_zero(total);
  run("optimizer_step", {param, param, grad, m, m, v, v},
      [&] { backend.optimizer_step({.param = param, .grad = grad, .m = m, .v = v, .sizes = sizes}); });
  run("sum_of_squares", {grad}, [&] { backend.sum({.x = grad, .total = total, .squares = true}); });

  std::vector<std::int32_t> ids(kRows);
  Rng rng(3);
  for (auto& id : ids) id = static_cast<std::int32_t>(rng.below(kVocab));
  Tensor tokens(backend, DType::i32, {kRows / 512, 512});
  backend.copy_in(tokens, ConstTensorView{ids.data(), DType::i32, {kRows}});
  const Tensor out = run.make(DType::f32, {kRows / 512, 512, kDim});
  run("embedding_forward", {out, out},
      [&] { backend.embedding_forward({.tokens = tokens, .weight = param, .positions = {}, .out = out}); });
  run("embedding_backward", {out, out, out},
      [&] { backend.embedding_backward({.tokens = tokens, .dout = out, .dweight = grad}); });
}

void run_all() {
  const auto backend = backend_from_environment();
  const Table table;
  const Run run{*backend, table, copy_rate(table, *backend)};
  norm_and_mlp(run, DType::f32, " f32");
  norm_and_mlp(run, DType::bf16, " bf16");
  loss(run, DType::f32, " f32");
  loss(run, DType::bf16, " bf16");
  parameters(run);
}

}  // namespace
}  // namespace bam::bench

int main() {
  bam::bench::run_all();
}
