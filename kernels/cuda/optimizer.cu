#include "kernels/ops/optimizer.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

struct Step {
  float* param;
  const float* grad;
  float *m, *v;
  const float* sizes;
  const double* totals;  // null for none
  Index total_count;
  double clip;
  float beta1, rest1, beta2, rest2;

  // As kernels/step_sizes.cpp has it.
  BAM_DEVICE bool all_finite() const {
    for (Index i = 0; i < total_count; ++i) {
      if (totals[i] - totals[i] != 0.0) return false;
    }
    return true;
  }
  BAM_DEVICE float scale() const {
    if (total_count == 0 || clip <= 0) return 1.0F;
    const double wanted = clip / (sqrt(totals[0]) + 1e-6);
    return static_cast<float>(wanted < 1.0 ? wanted : 1.0);
  }

  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    if (!all_finite()) return;
    const float grad_scale = scale();
    const float decay = sizes[0];
    const float rate = sizes[1];
    const float root_scale = sizes[2];
    const float floor = sizes[3];
    float p[4];
    float g[4];
    float m4[4];
    float v4[4];
    load_four(param + first, count, aligned, p);
    load_four(grad + first, count, aligned, g);
    load_four(m + first, count, aligned, m4);
    load_four(v + first, count, aligned, v4);
    for (int i = 0; i < 4; ++i) {
      g[i] *= grad_scale;
      m4[i] = beta1 * m4[i] + rest1 * g[i];
      v4[i] = beta2 * v4[i] + rest2 * g[i] * g[i];
      const float divisor = root_scale > 0 ? root_scale * sqrtf(v4[i]) + floor : floor;
      p[i] = p[i] * decay - rate * m4[i] / divisor;
    }
    store_four(m + first, count, aligned, m4);
    store_four(v + first, count, aligned, v4);
    store_four(param + first, count, aligned, p);
  }
};

}  // namespace

void optimizer_step(const OptimizerStepArgs& args, const Context& ctx) {
  const Step step{.param = data_of<float>(args.param),
                  .grad = data_of<float>(args.grad),
                  .m = data_of<float>(args.m),
                  .v = data_of<float>(args.v),
                  .sizes = data_of<float>(args.sizes),
                  .totals = data_of<double>(args.totals),
                  .total_count = args.totals.count(),
                  .clip = args.clip,
                  .beta1 = static_cast<float>(args.beta1),
                  .rest1 = static_cast<float>(1.0 - args.beta1),
                  .beta2 = static_cast<float>(args.beta2),
                  .rest2 = static_cast<float>(1.0 - args.beta2)};
  for_each_four(step, args.param.count(), in_fours(args.param, args.grad, args.m, args.v), ctx.stream);
}

}  // namespace bam::cuda
