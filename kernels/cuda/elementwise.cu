#include "kernels/ops/elementwise.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

template <typename From, typename To>
struct Cast {
  const From* from;
  To* to;
  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    float x[4];
    load_four(from + first, count, aligned, x);
    store_four(to + first, count, aligned, x);
  }
};

template <typename T>
struct Add {
  float* x;
  const T* y;
  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    float a[4];
    float b[4];
    load_four(x + first, count, aligned, a);
    load_four(y + first, count, aligned, b);
    for (int i = 0; i < 4; ++i) a[i] += b[i];
    store_four(x + first, count, aligned, a);
  }
};

template <typename From, typename To>
void cast_as(const CastArgs& args, void* stream) {
  for_each_four(Cast<From, To>{data_of<From>(args.from), data_of<To>(args.to)}, args.to.count(),
                in_fours(args.from, args.to), stream);
}

// Sums of blocks of fixed size in double, then their sum in order: a sum depends on nothing but its numbers.
constexpr Index kSumBlock = Index{1} << 16;

template <bool kSquares>
BAM_KERNEL void sum_blocks_kernel(const float* x, Index n, double* sums) {
  double* const shared = reinterpret_cast<double*>(shared_memory());
  const Index begin = static_cast<Index>(blockIdx.x) * kSumBlock;
  const Index end = n < begin + kSumBlock ? n : begin + kSumBlock;
  double sum = 0;
  for (Index i = begin + thread_index(); i < end; i += kBlockThreads) {
    const double v = static_cast<double>(x[i]);
    sum += kSquares ? v * v : v;
  }
  sum = block_sum(sum, shared);
  if (thread_index() == 0) sums[blockIdx.x] = sum;
}

BAM_KERNEL void sum_of_sums_kernel(const double* sums, Index n, double* total) {
  double* const shared = reinterpret_cast<double*>(shared_memory());
  double sum = 0;
  for (Index i = thread_index(); i < n; i += kBlockThreads) sum += sums[i];
  sum = block_sum(sum, shared);
  if (thread_index() == 0) *total += sum;
}

}  // namespace

void cast(const CastArgs& args, const Context& ctx) {
  const bool from_half = is_half(args.from);
  const bool to_half = is_half(args.to);
  if (from_half && to_half) return cast_as<Bf16, Bf16>(args, ctx.stream);
  if (from_half) return cast_as<Bf16, float>(args, ctx.stream);
  if (to_half) return cast_as<float, Bf16>(args, ctx.stream);
  cast_as<float, float>(args, ctx.stream);
}

void add(const AddArgs& args, const Context& ctx) {
  auto* const x = data_of<float>(args.x);
  const bool aligned = in_fours(args.x, args.y);
  if (is_half(args.y)) {
    for_each_four(Add<Bf16>{x, data_of<Bf16>(args.y)}, args.x.count(), aligned, ctx.stream);
  } else {
    for_each_four(Add<float>{x, data_of<float>(args.y)}, args.x.count(), aligned, ctx.stream);
  }
}

void sum(const SumArgs& args, const Context& ctx) {
  const Index n = args.x.count();
  const Index blocks = (n + kSumBlock - 1) / kSumBlock;
  constexpr std::size_t kShared = kBlockWarps * sizeof(double);
  const Scratch<double> sums(ctx, blocks);
  if (blocks > 0) {
    launch(args.squares ? &sum_blocks_kernel<true> : &sum_blocks_kernel<false>, {static_cast<unsigned>(blocks), 1, 1},
           kBlockThreads, kShared, ctx.stream, data_of<float>(args.x), n, sums.data());
  }
  launch(&sum_of_sums_kernel, {}, kBlockThreads, kShared, ctx.stream, sums.data(), blocks, data_of<double>(args.total));
}

}  // namespace bam::cuda
