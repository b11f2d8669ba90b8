#include "kernels/step_scalars.h"

#include <cmath>

#include "kernels/ops/optimizer.h"

namespace bam {

// Powers and corrections in double, as 1 - beta2^step loses its digits in float.
StepScalars step_scalars(const OptimizerStepArgs& args) {
  const double power1 = std::pow(args.beta1, static_cast<double>(args.step));
  const double power2 = std::pow(args.beta2, static_cast<double>(args.step));
  double rate = args.learning_rate / (1.0 - power1);
  double root_scale = 1.0;
  bool adaptive = true;
  if (args.kind == OptimizerKind::adamw) {
    root_scale = 1.0 / std::sqrt(1.0 - power2);
  } else {
    constexpr double kRectifiedAbove = 5.0;  // PyTorch's; the paper has 4
    const double rho_inf = 2.0 / (1.0 - args.beta2) - 1.0;
    const double rho = rho_inf - 2.0 * static_cast<double>(args.step) * power2 / (1.0 - power2);
    adaptive = rho > kRectifiedAbove;
    if (adaptive) {
      const double rect = std::sqrt((rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho));
      rate *= rect * std::sqrt(1.0 - power2);
    }
  }
  return {static_cast<float>(args.grad_scale),
          static_cast<float>(args.beta1),
          static_cast<float>(1.0 - args.beta1),
          static_cast<float>(args.beta2),
          static_cast<float>(1.0 - args.beta2),
          static_cast<float>(1.0 - args.learning_rate * args.weight_decay),
          static_cast<float>(rate),
          static_cast<float>(root_scale),
          static_cast<float>(args.eps),
          adaptive};
}

}  // namespace bam
