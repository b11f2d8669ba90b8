#include "kernels/ops/optimizer.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"
#include "kernels/step_scalars.h"

namespace bam::cuda {
namespace {

struct Step {
  float* param;
  const float* grad;
  float *m, *v;
  StepScalars s;

  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    float p[4];
    float g[4];
    float m4[4];
    float v4[4];
    load_four(param + first, count, aligned, p);
    load_four(grad + first, count, aligned, g);
    load_four(m + first, count, aligned, m4);
    load_four(v + first, count, aligned, v4);
    for (int i = 0; i < 4; ++i) {
      g[i] *= s.grad_scale;
      m4[i] = s.beta1 * m4[i] + s.rest1 * g[i];
      v4[i] = s.beta2 * v4[i] + s.rest2 * g[i] * g[i];
      float change = s.rate * m4[i];
      if (s.adaptive) change = change / (s.root_scale * sqrtf(v4[i]) + s.eps);
      p[i] = p[i] * s.decay - change;
    }
    store_four(m + first, count, aligned, m4);
    store_four(v + first, count, aligned, v4);
    store_four(param + first, count, aligned, p);
  }
};

}  // namespace

void optimizer_step(const OptimizerStepArgs& args, const Context& ctx) {
  const Step step{data_of<float>(args.param), data_of<float>(args.grad), data_of<float>(args.m), data_of<float>(args.v),
                  step_scalars(args)};
  for_each_four(step, args.param.count(), in_fours(args.param, args.grad, args.m, args.v), ctx.stream);
}

}  // namespace bam::cuda
