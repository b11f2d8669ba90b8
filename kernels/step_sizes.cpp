#include <algorithm>
#include <cmath>

#include "kernels/ops/optimizer.h"

namespace bam {

// Powers and corrections in double, as 1 - beta2^step loses its digits in float.
StepSizes step_sizes(const OptimizerRule& rule, Index step, double learning_rate, double weight_decay) {
  const double power1 = std::pow(rule.beta1, static_cast<double>(step));
  const double power2 = std::pow(rule.beta2, static_cast<double>(step));
  StepSizes sizes{1.0 - learning_rate * weight_decay, learning_rate / (1.0 - power1), 1.0, rule.eps};
  if (rule.kind == OptimizerKind::adamw) {
    sizes.root_scale = 1.0 / std::sqrt(1.0 - power2);
    return sizes;
  }
  constexpr double kRectifiedAbove = 5.0;  // PyTorch's; the paper has 4
  const double rho_inf = 2.0 / (1.0 - rule.beta2) - 1.0;
  const double rho = rho_inf - 2.0 * static_cast<double>(step) * power2 / (1.0 - power2);
  if (rho > kRectifiedAbove) {
    const double rect = std::sqrt((rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho));
    sizes.rate *= rect * std::sqrt(1.0 - power2);
  } else {  // as m alone has it
    sizes.root_scale = 0.0;
    sizes.floor = 1.0;
  }
  return sizes;
}

double gradient_scale(const double* totals, Index count, double clip) {
  for (Index i = 0; i < count; ++i) {
    if (!std::isfinite(totals[i])) return std::nan("");
  }
  return count > 0 && clip > 0 ? std::min(1.0, clip / (std::sqrt(totals[0]) + 1e-6)) : 1.0;
}

}  // namespace bam
