// optimizer - one step of AdamW (arXiv 1711.05101) or RAdam (arXiv 1908.03265) on one tensor.
#pragma once

#include "kernels/tensor.h"

namespace bam {

enum class OptimizerKind : std::uint8_t { radam, adamw };

struct OptimizerRule {
  OptimizerKind kind = OptimizerKind::radam;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
};

// What differs from step to step; in a tensor, the four in this order. With m_hat = m / (1 - b1^step) and
// v_hat = v / (1 - b2^step) they make of OptimizerStepArgs' formula, after param *= 1 - lr weight_decay,
//   adamw   param -= lr m_hat / (sqrt(v_hat) + eps)
//   radam   rho_inf = 2 / (1 - b2) - 1,  rho = rho_inf - 2 step b2^step / (1 - b2^step)
//           rho > 5: param -= lr rect sqrt(1 - b2^step) m_hat / (sqrt(v) + eps),
//                    rect = sqrt((rho-4)(rho-2) rho_inf / ((rho_inf-4)(rho_inf-2) rho))
//           else     param -= lr m_hat           (PyTorch's threshold; the paper has 4)
struct StepSizes {
  double decay = 1;
  double rate = 0;
  double root_scale = 0;
  double floor = 1;
};
// step counts from 1.
StepSizes step_sizes(const OptimizerRule& rule, Index step, double learning_rate, double weight_decay);

// g = s grad;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
// param = decay param - rate m / (root_scale sqrt(v) + floor); with root_scale 0 v is not looked at
// s = min(1, clip / (sqrt(totals[0]) + 1e-6)), in double and rounded once: totals[0] is the sum of the squares of all
// gradients. 1 without totals, or with clip = 0. Where one of the totals is not finite, nothing is changed.
// shapes    param, grad, m, v alike, real; sizes [4] real: decay, rate, root_scale, floor; totals [n] f64, or empty
struct OptimizerStepArgs {
  TensorView param;
  ConstTensorView grad;
  TensorView m;
  TensorView v;
  ConstTensorView sizes;
  ConstTensorView totals = {};
  double clip = 0;
  double beta1 = 0.9;
  double beta2 = 0.95;
};

// s of the formula above for `count` totals; NaN where nothing is to be changed.
double gradient_scale(const double* totals, Index count, double clip);

}  // namespace bam
