#include "kernels/cuda/attention_rows.h"
#include "kernels/ops/attention.h"

namespace bam::cuda {
namespace {

constexpr int kThreads = 128;

// A block of threads per block of keys and head, a thread per channel.
BAM_KERNEL void key_bounds_kernel(KeyBounds args) {
  const Index block = args.first / kKeyBlock + blockIdx.x;
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index end = (block + 1) * kKeyBlock < args.keys ? (block + 1) * kKeyBlock : args.keys;
  float* const bounds =
      args.bounds + ((batch * ceil_div(args.keys, kKeyBlock) + block) * args.kv_heads + head) * 2 * args.dim;
  bool finite = true;
  for (Index c = threadIdx.x; c < args.dim; c += kThreads) {
    float high = -INFINITY;
    float low = INFINITY;
    for (Index key = block * kKeyBlock; key < end; ++key) {
      const Index at = ((batch * args.keys + key) * args.kv_heads + head) * args.dim + c;
      const float k = load_value(args.k, args.bf16, at);
      const float v = load_value(args.v, args.bf16, at);
      finite = finite && k - k == 0.0F && v - v == 0.0F;
      high = fmaxf(high, k);
      low = fminf(low, k);
    }
    bounds[c] = high;
    bounds[args.dim + c] = -low;
  }
  if (!any_in_block(!finite)) return;
  for (Index c = threadIdx.x; c < args.dim; c += kThreads) bounds[c] = bounds[args.dim + c] = INFINITY;
}

}  // namespace

void key_bounds(const KeyBounds& args, void* stream) {
  const Index blocks = ceil_div(args.keys, kKeyBlock) - args.first / kKeyBlock;
  if (blocks <= 0 || args.batch == 0 || args.kv_heads == 0) return;
  launch(&key_bounds_kernel,
         {static_cast<unsigned>(blocks), static_cast<unsigned>(args.kv_heads), static_cast<unsigned>(args.batch)},
         kThreads, 0, stream, args);
}

}  // namespace bam::cuda
