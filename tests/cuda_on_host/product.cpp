// kernels/cuda/product.h on the host: plain_product.cu where it is small enough for threads that take turns, else
// loops.
#include "kernels/cuda/product.h"

#include <bit>
#include <vector>

#include "cuda_on_host/streams.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

constexpr Index kFewProducts = 20000;

std::vector<float> floats_of(const ConstTensorView& x) {
  std::vector<float> values(static_cast<std::size_t>(x.count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] =
        is_half(x) ? std::bit_cast<float>(std::uint32_t{data_of<std::uint16_t>(x)[i]} << 16) : data_of<float>(x)[i];
  }
  return values;
}

std::uint16_t bf16_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return static_cast<std::uint16_t>((bits | 0x400000U) >> 16);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

void multiply(const MatmulArgs& args, Index m, Index n, Index k) {
  const std::vector<float> a = floats_of(args.a);
  const std::vector<float> b = floats_of(args.b);
  const auto at = [](const std::vector<float>& x, Index i) { return x[static_cast<std::size_t>(i)]; };
  for (Index row = 0; row < m; ++row) {
    for (Index column = 0; column < n; ++column) {
      float sum = 0;
      for (Index i = 0; i < k; ++i) {
        sum += at(a, args.transpose_a ? i * m + row : row * k + i) *
               at(b, args.transpose_b ? column * k + i : i * n + column);
      }
      const Index to = row * n + column;
      if (is_half(args.c)) {
        data_of<std::uint16_t>(args.c)[to] = bf16_of(sum);
      } else {
        float& c = data_of<float>(args.c)[to];
        c = args.accumulate ? c + sum : sum;
      }
    }
  }
}

}  // namespace

class Product::Library {};
Product::Product(bool) {}
Product::~Product() = default;

void Product::run(const MatmulArgs& args, const Context& ctx) {
  const Index m = args.c.shape[0];
  const Index n = args.c.shape[1];
  const Index k = args.a.shape[args.transpose_a ? 0 : 1];
  if (m * n * k <= kFewProducts) return plain_product(args, ctx);
  on_host::submit(ctx.stream, [=] { multiply(args, m, n, k); });
}

}  // namespace bam::cuda
