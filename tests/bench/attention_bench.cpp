// Fused attention, causal, against a product of 2048 x 2048 x 2048 in the same dtype: best of the runs, as a neighbour
// on the machine only ever makes one slower. Operations are counted as 4 d per visible pair forward (T^2 / 2 pairs) and
// 2.5 times as many backward; softmax, bias and its gradient are not counted. BAM_CPU_ISA picks the instruction set.
#include "bench/bench.h"

namespace bam::bench {
namespace {

// A row of first keys per batch entry: one document.
Tensor one_document(Backend& backend, Index batch, Index queries) {
  Tensor first_key(backend, DType::i32, {batch, queries});
  backend.fill_zero(first_key);
  return first_key;
}

// A prior that falls with distance, as ALiBi's: b = -n / (h + 2).
Tensor falling_prior(Backend& backend, Index heads, Index distances) {
  std::vector<float> values(static_cast<std::size_t>(heads * distances));
  for (Index i = 0; i < heads * distances; ++i) {
    values[static_cast<std::size_t>(i)] = -static_cast<float>(i % distances) / static_cast<float>(i / distances + 2);
  }
  Tensor prior(backend, DType::f32, {heads, distances});
  backend.copy_in(prior, ConstTensorView{values.data(), DType::f32, prior.shape()});
  return prior;
}

struct Machine {
  Backend& backend;
  const Table& table;
  DType dtype;
  double ceiling;
};

void training(const Machine& m, Index dim, Index length) {
  Backend& backend = m.backend;
  const Index heads = length > 2048 ? 4 : 12;
  const Index batch = std::max<Index>(1, 2048 / length);
  const Shape shape{batch, length, heads, dim};
  const Tensor q = random_tensor(backend, m.dtype, shape, 1), k = random_tensor(backend, m.dtype, shape, 2);
  const Tensor v = random_tensor(backend, m.dtype, shape, 3), dout = random_tensor(backend, m.dtype, shape, 4);
  const Tensor dq(backend, m.dtype, shape), dk(backend, m.dtype, shape), dv(backend, m.dtype, shape);
  const Tensor prior = falling_prior(backend, heads, length), dprior = falling_prior(backend, heads, length);
  const Tensor scale = random_tensor(backend, DType::f32, {heads}, 5),
               dscale = random_tensor(backend, DType::f32, {heads}, 6);
  const Tensor first_key = one_document(backend, batch, length);
  const Tensor out(backend, DType::f32, shape), lse(backend, DType::f32, {batch, heads, length});
  const double forward_s = best_seconds(backend, [&] {
    backend.attention_forward({.q = q,
                               .k = k,
                               .v = v,
                               .prior = prior,
                               .first_key = first_key,
                               .ssmax_scale = scale,
                               .ssmax = Ssmax::full,
                               .out = out,
                               .lse = lse});
  });
  const double backward_s = best_seconds(backend, [&] {
    backend.attention_backward({.q = q,
                                .k = k,
                                .v = v,
                                .prior = prior,
                                .first_key = first_key,
                                .ssmax_scale = scale,
                                .ssmax = Ssmax::full,
                                .out = out,
                                .lse = lse,
                                .dout = dout,
                                .dq = dq,
                                .dk = dk,
                                .dv = dv,
                                .dprior = dprior,
                                .dssmax_scale = dscale});
  });
  const double flops = 4.0 * static_cast<double>(dim) * static_cast<double>(batch * heads) *
                       static_cast<double>(length) * static_cast<double>(length) / 2;
  const std::string name =
      " d " + std::to_string(dim) + " T " + std::to_string(length) + " " + std::string(name_of(m.dtype));
  m.table.row("forward" + name, forward_s, flops, "GFLOP/s", m.ceiling);
  m.table.row("backward" + name, backward_s, 2.5 * flops, "GFLOP/s", m.ceiling);
}

// The last `queries` of many keys, as in evaluation over a cache.
void cached(const Machine& m, Index queries) {
  constexpr Index kKeys = 16384, kHeads = 8, kDim = 64;
  Backend& backend = m.backend;
  const Tensor q = random_tensor(backend, m.dtype, {1, queries, kHeads, kDim}, 1);
  const Tensor k = random_tensor(backend, m.dtype, {1, kKeys, kHeads, kDim}, 2);
  const Tensor v = random_tensor(backend, m.dtype, {1, kKeys, kHeads, kDim}, 3);
  const Tensor prior = falling_prior(backend, kHeads, kKeys);
  const Tensor first_key = one_document(backend, 1, queries);
  const Tensor out(backend, DType::f32, {1, queries, kHeads, kDim}), lse(backend, DType::f32, {1, kHeads, queries});
  const double seconds = best_seconds(backend, [&] {
    backend.attention_forward({.q = q,
                               .k = k,
                               .v = v,
                               .prior = prior,
                               .first_key = first_key,
                               .ssmax_scale = {},
                               .ssmax = Ssmax::off,
                               .out = out,
                               .lse = lse});
  });
  const double flops = 4.0 * static_cast<double>(kDim * kHeads * queries) * static_cast<double>(kKeys);
  m.table.row("cached d 64 T " + std::to_string(queries) + " S 16384 " + std::string(name_of(m.dtype)), seconds, flops,
              "GFLOP/s", m.ceiling);
}

void run_all() {
  const auto backend = backend_from_environment();
  const Table table;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Machine machine{*backend, table, dtype, ceiling_rate(table, *backend, dtype)};
    for (const Index dim : {16, 32, 48, 64, 128}) {
      for (const Index length : {128, 512, 4096}) training(machine, dim, length);
    }
    for (const Index queries : {1, 16, 512}) cached(machine, queries);
  }
}

}  // namespace
}  // namespace bam::bench

int main() {
  bam::bench::run_all();
}
