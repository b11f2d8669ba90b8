// Matrix products at the shapes of the presets, against a product of 2048 x 2048 x 2048 in the same dtype.
#include "bench/bench.h"

namespace bam::bench {
namespace {

struct Product {
  const char* name;
  Index m, n, k;
  bool transpose_a, transpose_b, accumulate;
};

// Of one linear layer y = x W^T: forward, dx = dy W, dW += dy^T x.
constexpr Product kProducts[] = {
    {"l12 wq", 4096, 768, 768, false, true, false},         {"l12 wq dx", 4096, 768, 768, false, false, false},
    {"l12 wq dW", 768, 768, 4096, true, false, true},       {"l12 gate", 4096, 1536, 768, false, true, false},
    {"l12 gate dx", 4096, 768, 1536, false, false, false},  {"l12 gate dW", 1536, 768, 4096, true, false, true},
    {"l12 down", 4096, 768, 1536, false, true, false},      {"l12 down dx", 4096, 1536, 768, false, false, false},
    {"l12 down dW", 768, 1536, 4096, true, false, true},    {"l12 head", 1024, 32768, 768, false, true, false},
    {"l12 head dx", 1024, 768, 32768, false, false, false}, {"l12 head dW", 32768, 768, 1024, true, false, true},
    {"tiny wq", 2048, 128, 128, false, true, false},        {"tiny wq dx", 2048, 128, 128, false, false, false},
    {"tiny wq dW", 128, 128, 2048, true, false, true},      {"tiny gate", 2048, 256, 128, false, true, false},
    {"tiny gate dW", 256, 128, 2048, true, false, true},    {"one row", 1, 768, 768, false, true, false},
};

double run(Backend& backend, const Product& p, DType dtype) {
  const Tensor a = random_tensor(backend, dtype, p.transpose_a ? Shape{p.k, p.m} : Shape{p.m, p.k}, 1);
  const Tensor b = random_tensor(backend, dtype, p.transpose_b ? Shape{p.n, p.k} : Shape{p.k, p.n}, 2);
  const Tensor c = random_tensor(backend, DType::f32, {p.m, p.n}, 3);
  return median_seconds([&] {
    backend.matmul({.a = a,
                    .b = b,
                    .c = c,
                    .transpose_a = p.transpose_a,
                    .transpose_b = p.transpose_b,
                    .accumulate = p.accumulate});
    backend.synchronize();
  });
}

double flops(const Product& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

void run_all() {
  const auto backend = backend_from_environment();
  const Table table;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    constexpr Product kCeiling{"ceiling", 2048, 2048, 2048, false, false, false};
    const double ceiling_s = run(*backend, kCeiling, dtype);
    const double ceiling = flops(kCeiling) / ceiling_s * 1e-9;
    const std::string suffix = std::string(" ").append(name_of(dtype));
    table.row(kCeiling.name + suffix, ceiling_s, flops(kCeiling), "GFLOP/s", ceiling);
    for (const Product& p : kProducts)
      table.row(p.name + suffix, run(*backend, p, dtype), flops(p), "GFLOP/s", ceiling);
  }
}

}  // namespace
}  // namespace bam::bench

int main() {
  bam::bench::run_all();
}
