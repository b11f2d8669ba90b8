#include "kernels/ops/norm.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

// A warp a row: it is read twice, the second time from the cache.
template <typename T>
BAM_KERNEL void forward_kernel(const float* x, const float* weight, float eps, Index rows, Index dim, bool aligned,
                               T* y, float* rstd) {
  const Index row = static_cast<Index>(blockIdx.x) * kBlockWarps + warp_index();
  if (row >= rows) return;  // a whole warp
  const float* const from = x + row * dim;
  float squares = 0;
  for (Index c = 4 * lane_index(); c < dim; c += 128) {
    float v[4];
    load_four(from + c, dim - c < 4 ? static_cast<int>(dim - c) : 4, aligned, v);
    for (int i = 0; i < 4; ++i) squares += v[i] * v[i];
  }
  squares = warp_sum(squares);
  const float scale = 1.0F / sqrtf(squares / static_cast<float>(dim) + eps);
  if (lane_index() == 0) rstd[row] = scale;
  for (Index c = 4 * lane_index(); c < dim; c += 128) {
    const int count = dim - c < 4 ? static_cast<int>(dim - c) : 4;
    float v[4];
    float w[4];
    load_four(from + c, count, aligned, v);
    load_four(weight + c, count, aligned, w);
    for (int i = 0; i < 4; ++i) v[i] = v[i] * scale * w[i];
    store_four(y + row * dim + c, count, aligned, v);
  }
}

// dweight is summed over slices of rows that depend on their number alone, then over the slices in order.
constexpr Index kMostSlices = 512;
constexpr Index kLeastSliceRows = 8;

// A block a slice; a thread has columns of its own and keeps their sums in shared memory.
template <typename T>
BAM_KERNEL void backward_kernel(const float* x, const float* weight, const float* rstd, const T* dy, Index rows,
                                Index dim, float* dx, float* slice_sums) {
  float* const for_sum = reinterpret_cast<float*>(shared_memory());
  float* const sums = for_sum + kBlockWarps;
  const Index slices = gridDim.x;
  const Index slice = blockIdx.x;
  for (Index c = thread_index(); c < dim; c += kBlockThreads) sums[c] = 0;
  const Index end = rows * (slice + 1) / slices;
  for (Index row = rows * slice / slices; row < end; ++row) {
    const Index start = row * dim;
    float projection = 0;
    for (Index c = thread_index(); c < dim; c += kBlockThreads) {
      projection += as_float(dy[start + c]) * weight[c] * x[start + c];
    }
    const float scale = rstd[row];
    const float mean = block_sum(projection, for_sum) * scale / static_cast<float>(dim);  // of g h
    for (Index c = thread_index(); c < dim; c += kBlockThreads) {
      const float grad = as_float(dy[start + c]);
      const float h = x[start + c] * scale;
      dx[start + c] += scale * (grad * weight[c] - h * mean);
      sums[c] += grad * h;
    }
  }
  for (Index c = thread_index(); c < dim; c += kBlockThreads) slice_sums[slice * dim + c] = sums[c];
}

BAM_KERNEL void add_slices_kernel(const float* slice_sums, Index slices, Index dim, float* to) {
  const Index c = grid_index();
  if (c >= dim) return;
  float sum = 0;
  for (Index slice = 0; slice < slices; ++slice) sum += slice_sums[slice * dim + c];
  to[c] += sum;
}

template <typename T>
void forward(const RmsnormForwardArgs& args, const Context& ctx) {
  const Index rows = args.x.shape[0];
  const Index dim = args.x.shape[1];
  if (rows == 0) return;
  const bool aligned = dim % 4 == 0 && in_fours(args.x, args.weight, args.y);
  launch(&forward_kernel<T>, {blocks_of(rows, kBlockWarps), 1, 1}, kBlockThreads, 0, ctx.stream, data_of<float>(args.x),
         data_of<float>(args.weight), static_cast<float>(args.eps), rows, dim, aligned, data_of<T>(args.y),
         data_of<float>(args.rstd));
}

template <typename T>
void backward(const RmsnormBackwardArgs& args, const Context& ctx) {
  const Index rows = args.x.shape[0];
  const Index dim = args.x.shape[1];
  if (rows == 0 || dim == 0) return;
  const Index most = rows / kLeastSliceRows < kMostSlices ? rows / kLeastSliceRows : kMostSlices;
  const Index slices = most < 1 ? 1 : most;
  const Scratch<float> sums(ctx, slices * dim);
  launch(&backward_kernel<T>, {static_cast<unsigned>(slices), 1, 1}, kBlockThreads,
         static_cast<std::size_t>(kBlockWarps + dim) * sizeof(float), ctx.stream, data_of<float>(args.x),
         data_of<float>(args.weight), data_of<float>(args.rstd), data_of<T>(args.dy), rows, dim,
         data_of<float>(args.dx), sums.data());
  launch(&add_slices_kernel, {blocks_of(dim, kBlockThreads), 1, 1}, kBlockThreads, 0, ctx.stream, sums.data(), slices,
         dim, data_of<float>(args.dweight));
}

}  // namespace

void rmsnorm_forward(const RmsnormForwardArgs& args, const Context& ctx) {
  if (is_half(args.y)) return forward<Bf16>(args, ctx);
  forward<float>(args, ctx);
}

void rmsnorm_backward(const RmsnormBackwardArgs& args, const Context& ctx) {
  // A row of sums in shared memory, of which a block has 163 KiB on an sm_80.
  constexpr Index kWidest = 40000;
  if (args.x.shape[1] > kWidest) {
    throw Error("cuda: rmsnorm_backward: rows of " + std::to_string(args.x.shape[1]) + ", expected at most " +
                std::to_string(kWidest));
  }
  if (is_half(args.dy)) return backward<Bf16>(args, ctx);
  backward<float>(args, ctx);
}

}  // namespace bam::cuda
