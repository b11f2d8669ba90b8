#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {
namespace {

double adamw_update(const OptimizerStepArgs& args, double m, double v) {
  const double step = static_cast<double>(args.step);
  const double m_hat = m / (1.0 - std::pow(args.beta1, step));
  const double v_hat = v / (1.0 - std::pow(args.beta2, step));
  return m_hat / (std::sqrt(v_hat) + args.eps);
}

double radam_update(const OptimizerStepArgs& args, double m, double v) {
  const double step = static_cast<double>(args.step);
  const double power = std::pow(args.beta2, step);
  const double m_hat = m / (1.0 - std::pow(args.beta1, step));
  const double rho_inf = 2.0 / (1.0 - args.beta2) - 1.0;
  const double rho = rho_inf - 2.0 * step * power / (1.0 - power);
  if (rho <= 5.0) return m_hat;
  const double rect = std::sqrt((rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho));
  return rect * std::sqrt(1.0 - power) * m_hat / (std::sqrt(v) + args.eps);
}

}  // namespace

void RefBackend::do_optimizer_step(const OptimizerStepArgs& args) {
  const auto param = reals(args.param);
  const auto grad = reals(args.grad);
  const auto m = reals(args.m);
  const auto v = reals(args.v);
  for (Index i = 0; i < param.count(); ++i) {
    const double g = args.grad_scale * grad.flat(i);
    m.flat(i) = args.beta1 * m.flat(i) + (1.0 - args.beta1) * g;
    v.flat(i) = args.beta2 * v.flat(i) + (1.0 - args.beta2) * g * g;
    const double update = args.kind == OptimizerKind::adamw ? adamw_update(args, m.flat(i), v.flat(i))
                                                            : radam_update(args, m.flat(i), v.flat(i));
    param.flat(i) = param.flat(i) * (1.0 - args.learning_rate * args.weight_decay) - args.learning_rate * update;
  }
}

}  // namespace bam::ref
