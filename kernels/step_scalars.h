// What a step of the optimizer multiplies by, worked out once for a tensor. Plain numbers: kernels of every backend
// take them as they are.
#pragma once

namespace bam {

struct OptimizerStepArgs;

// m = beta1 m + rest1 g, v = beta2 v + rest2 g^2 with g = grad_scale grad;
// param = decay param - rate m / (adaptive ? root_scale sqrt(v) + eps : 1)
struct StepScalars {
  float grad_scale, beta1, rest1, beta2, rest2, decay, rate, root_scale, eps;
  bool adaptive;
};
StepScalars step_scalars(const OptimizerStepArgs& args);

}  // namespace bam
