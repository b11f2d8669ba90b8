#include "kernels/ops/loss.h"

#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

void one_row(const CrossEntropyArgs& args, const SimdKernels& simd, Index row) {
  const Index vocab = args.logits.shape[1];
  const Index target = *at<std::int32_t>(args.targets, row);
  void* dlogits = args.dlogits.empty() ? nullptr : at(args.dlogits, row * vocab);
  CrossEntropyResult result{0, false};
  if (target >= 0) {
    result = simd.cross_entropy({.logits = at<float>(args.logits, row * vocab),
                                 .vocab = vocab,
                                 .target = target,
                                 .grad_scale = args.grad_scale.empty() ? 1.0F : *at<float>(args.grad_scale, 0),
                                 .dlogits = dlogits,
                                 .half = is_half(args.dlogits)});
  } else if (dlogits != nullptr) {
    std::memset(dlogits, 0, static_cast<std::size_t>(vocab) * size_of(args.dlogits.dtype));
  }
  *at<float>(args.nll, row) = result.nll;
  if (!args.hit.empty()) *at<std::int32_t>(args.hit, row) = result.hit ? 1 : 0;
}

}  // namespace

void cross_entropy(const CrossEntropyArgs& args, CpuContext& ctx) {
  parallel_rows(ctx, args.logits.shape[0], args.logits.shape[1], [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) one_row(args, *ctx.simd, row);
  });
}

}  // namespace bam::cpu
