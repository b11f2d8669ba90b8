#include "kernels/ops/optimizer.h"

#include <cmath>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {

void optimizer_step(const OptimizerStepArgs& args, CpuContext& ctx) {
  const auto* const totals = static_cast<const double*>(args.totals.data);
  const double scale = gradient_scale(totals, args.totals.count(), args.clip);
  if (std::isnan(scale)) return;
  const float* const sizes = at<float>(args.sizes, 0);
  parallel_elements(ctx, args.param.count(), [&](Index first, Index count) {
    const DenormalsAreZero guard;  // what is left of the moments of a weight that gets no gradients for long
    ctx.simd->optimizer_step({.param = at<float>(args.param, first),
                              .grad = at<float>(args.grad, first),
                              .m = at<float>(args.m, first),
                              .v = at<float>(args.v, first),
                              .n = count,
                              .grad_scale = static_cast<float>(scale),
                              .beta1 = static_cast<float>(args.beta1),
                              .rest1 = static_cast<float>(1.0 - args.beta1),
                              .beta2 = static_cast<float>(args.beta2),
                              .rest2 = static_cast<float>(1.0 - args.beta2),
                              .decay = sizes[0],
                              .rate = sizes[1],
                              .root_scale = sizes[2],
                              .floor = sizes[3]});
  });
}

}  // namespace bam::cpu
