#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_optimizer_step(const OptimizerStepArgs& args) {
  const auto param = reals(args.param);
  const auto grad = reals(args.grad);
  const auto m = reals(args.m);
  const auto v = reals(args.v);
  const auto* const totals = static_cast<const double*>(args.totals.data);
  const double scale = gradient_scale(totals, args.totals.count(), args.clip);
  if (std::isnan(scale)) return;
  const auto sizes = reals(args.sizes);
  const double decay = sizes(0), rate = sizes(1), root_scale = sizes(2), floor = sizes(3);
  for (Index i = 0; i < param.count(); ++i) {
    const double g = scale * grad.flat(i);
    m.flat(i) = args.beta1 * m.flat(i) + (1.0 - args.beta1) * g;
    v.flat(i) = args.beta2 * v.flat(i) + (1.0 - args.beta2) * g * g;
    const double root = root_scale > 0 ? root_scale * std::sqrt(v.flat(i)) : 0.0;
    param.flat(i) = param.flat(i) * decay - rate * m.flat(i) / (root + floor);
  }
}

}  // namespace bam::ref
