// optimizer - one step of AdamW (arXiv 1711.05101) or RAdam (arXiv 1908.03265) on one tensor.
#pragma once

#include "kernels/tensor.h"

namespace bam {

enum class OptimizerKind : std::uint8_t { radam, adamw };

// g = grad_scale grad;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  param *= 1 - lr weight_decay  (first), then
//   adamw   param -= lr m_hat / (sqrt(v_hat) + eps),     m_hat = m / (1 - b1^step), v_hat = v / (1 - b2^step)
//   radam   rho_inf = 2 / (1 - b2) - 1,  rho = rho_inf - 2 step b2^step / (1 - b2^step)
//           rho > 5: param -= lr rect sqrt(1 - b2^step) m_hat / (sqrt(v) + eps),
//                    rect = sqrt((rho-4)(rho-2) rho_inf / ((rho_inf-4)(rho_inf-2) rho))
//           else     param -= lr m_hat           (PyTorch's threshold; the paper has 4)
// shapes    param, grad, m, v alike, real; step counts from 1
struct OptimizerStepArgs {
  OptimizerKind kind = OptimizerKind::radam;
  TensorView param;
  ConstTensorView grad;
  TensorView m;
  TensorView v;
  Index step = 1;
  double learning_rate = 0;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0;
  double grad_scale = 1;
};

}  // namespace bam
