#include "kernels/ops/optimizer.h"

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"
#include "kernels/step_scalars.h"

namespace bam::cpu {

void optimizer_step(const OptimizerStepArgs& args, CpuContext& ctx) {
  const StepScalars s = step_scalars(args);
  parallel_elements(ctx, args.param.count(), [&](Index first, Index count) {
    ctx.simd->optimizer_step({.param = at<float>(args.param, first),
                              .grad = at<float>(args.grad, first),
                              .m = at<float>(args.m, first),
                              .v = at<float>(args.v, first),
                              .n = count,
                              .grad_scale = s.grad_scale,
                              .beta1 = s.beta1,
                              .rest1 = s.rest1,
                              .beta2 = s.beta2,
                              .rest2 = s.rest2,
                              .decay = s.decay,
                              .rate = s.rate,
                              .root_scale = s.root_scale,
                              .eps = s.eps,
                              .adaptive = s.adaptive});
  });
}

}  // namespace bam::cpu
