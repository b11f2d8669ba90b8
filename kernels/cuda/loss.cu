#include "kernels/ops/loss.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

constexpr float kLowest = -3.40282347e+38F;  // not -inf: -inf - -inf would be NaN where a logit is -inf

struct Row {
  const float* logits;
  Index vocabulary;
  float target_logit;
};

// The largest logit of the row, and how many are not below the target's: itself, and NaN.
BAM_DEVICE float largest_of(const Row& row, float* shared, Index* counts, Index& not_below) {
  float largest = kLowest;
  Index count = 0;
  for (Index v = thread_index(); v < row.vocabulary; v += kBlockThreads) {
    const float x = row.logits[v];
    largest = fmaxf(largest, x);
    count += x < row.target_logit ? 0 : 1;
  }
  not_below = block_sum(count, counts);
  largest = warp_max(largest);
  if (lane_index() == 0) shared[warp_index()] = largest;
  sync_block();
  for (int warp = 0; warp < kBlockWarps; ++warp) largest = fmaxf(largest, shared[warp]);
  sync_block();
  return largest;
}

template <typename T>
BAM_KERNEL void cross_entropy_kernel(const float* logits, const std::int32_t* targets, Index vocabulary, float* nll,
                                     std::int32_t* hit, T* dlogits, const float* grad_scale) {
  Index* const counts = reinterpret_cast<Index*>(shared_memory());
  float* const shared = reinterpret_cast<float*>(counts + kBlockWarps);
  const Index n = blockIdx.x;
  const Index target = targets[n];
  T* const gradient = dlogits == nullptr ? nullptr : dlogits + n * vocabulary;
  if (target < 0) {  // not scored
    if (thread_index() == 0) {
      nll[n] = 0;
      if (hit != nullptr) hit[n] = 0;
    }
    for (Index v = thread_index(); gradient != nullptr && v < vocabulary; v += kBlockThreads) store_as(gradient[v], 0);
    return;
  }
  const Row row{logits + n * vocabulary, vocabulary, logits[n * vocabulary + target]};
  Index not_below = 0;
  const float largest = largest_of(row, shared, counts, not_below);
  float sum = 0;
  for (Index v = thread_index(); v < vocabulary; v += kBlockThreads) sum += expf(row.logits[v] - largest);
  sum = block_sum(sum, shared);
  if (thread_index() == 0) {
    // In double: the loss of a well-predicted token is a small difference of large numbers.
    nll[n] = static_cast<float>(log(static_cast<double>(sum)) +
                                (static_cast<double>(largest) - static_cast<double>(row.target_logit)));
    if (hit != nullptr) hit[n] = not_below == 1 ? 1 : 0;
  }
  if (gradient == nullptr) return;
  // May be the logits' own memory: a thread reads an entry before it writes it, and nobody else does.
  const float wanted = grad_scale == nullptr ? 1.0F : *grad_scale;
  const float scale = wanted / sum;
  for (Index v = thread_index(); v < vocabulary; v += kBlockThreads) {
    const float e = expf(row.logits[v] - largest);
    store_as(gradient[v], v == target ? wanted * (e / sum - 1.0F) : e * scale);
  }
}

template <typename T>
void run(const CrossEntropyArgs& args, void* stream) {
  const Index rows = args.logits.shape[0];
  if (rows == 0) return;
  launch(&cross_entropy_kernel<T>, {static_cast<unsigned>(rows), 1, 1}, kBlockThreads,
         kBlockWarps * (sizeof(Index) + sizeof(float)), stream, data_of<float>(args.logits),
         data_of<std::int32_t>(args.targets), args.logits.shape[1], data_of<float>(args.nll),
         data_of<std::int32_t>(args.hit), data_of<T>(args.dlogits), data_of<float>(args.grad_scale));
}

}  // namespace

void cross_entropy(const CrossEntropyArgs& args, const Context& ctx) {
  if (is_half(args.dlogits)) return run<Bf16>(args, ctx.stream);
  run<float>(args, ctx.stream);
}

}  // namespace bam::cuda
