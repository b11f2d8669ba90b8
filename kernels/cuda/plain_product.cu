// A matrix product of any shape, alignment and dtype, for what cuBLASLt has no kernel for: 16 x 16 entries of c a
// block, products summed in float in the order of k.
#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"
#include "kernels/ops/matmul.h"

namespace bam::cuda {
namespace {

constexpr int kSide = 16;
constexpr int kStride = kSide + 1;

struct Operand {
  const void* data;
  Index row_stride, column_stride;  // of op(x), elements
};

template <typename T>
BAM_DEVICE float entry(const Operand& x, Index row, Index column, Index rows, Index columns) {
  if (row >= rows || column >= columns) return 0;
  return as_float(static_cast<const T*>(x.data)[row * x.row_stride + column * x.column_stride]);
}

template <typename T, typename C>
BAM_KERNEL void product_kernel(Operand a, Operand b, C* c, Index m, Index n, Index k, bool accumulate) {
  float* const left = reinterpret_cast<float*>(shared_memory());
  float* const right = left + kSide * kStride;
  const int x = thread_index() % kSide;
  const int y = thread_index() / kSide;
  const Index blocks_of_row = (n + kSide - 1) / kSide;
  const Index row = static_cast<Index>(blockIdx.x) / blocks_of_row * kSide + y;
  const Index column = static_cast<Index>(blockIdx.x) % blocks_of_row * kSide + x;
  float sum = 0;
  for (Index first = 0; first < k; first += kSide) {
    left[y * kStride + x] = entry<T>(a, row, first + x, m, k);
    right[y * kStride + x] = entry<T>(b, first + y, column, k, n);
    sync_block();
    const int depth = k - first < kSide ? static_cast<int>(k - first) : kSide;
    for (int i = 0; i < depth; ++i) sum += left[y * kStride + i] * right[i * kStride + x];
    sync_block();
  }
  if (row >= m || column >= n) return;
  C& to = c[row * n + column];
  store_as(to, accumulate ? as_float(to) + sum : sum);
}

template <typename T, typename C>
void run(const MatmulArgs& args, void* stream) {
  const Index m = args.c.shape[0];
  const Index n = args.c.shape[1];
  const Index k = args.a.shape[args.transpose_a ? 0 : 1];
  const Operand a = args.transpose_a ? Operand{args.a.data, 1, m} : Operand{args.a.data, k, 1};
  const Operand b = args.transpose_b ? Operand{args.b.data, 1, k} : Operand{args.b.data, n, 1};
  // All blocks along x: m may be more than 65535 of them.
  launch(&product_kernel<T, C>, {blocks_of(n, kSide) * blocks_of(m, kSide), 1, 1}, kSide * kSide,
         2 * kSide * kStride * sizeof(float), stream, a, b, data_of<C>(args.c), m, n, k, args.accumulate);
}

}  // namespace

void plain_product(const MatmulArgs& args, const Context& ctx) {
  if (args.c.count() == 0) return;
  if (!is_half(args.a)) return run<float, float>(args, ctx.stream);
  if (is_half(args.c)) return run<Bf16, Bf16>(args, ctx.stream);
  run<Bf16, float>(args, ctx.stream);
}

}  // namespace bam::cuda
