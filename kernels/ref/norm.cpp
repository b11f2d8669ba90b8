#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_rmsnorm_forward(const RmsnormForwardArgs& args) {
  const auto x = reals(args.x);
  const auto weight = reals(args.weight);
  const auto y = reals(args.y);
  const auto rstd = reals(args.rstd);
  const Index dim = x.size(1);
  for (Index n = 0; n < x.size(0); ++n) {
    double squares = 0;
    for (Index c = 0; c < dim; ++c) squares += x(n, c) * x(n, c);
    rstd(n) = 1.0 / std::sqrt(squares / static_cast<double>(dim) + args.eps);
    for (Index c = 0; c < dim; ++c) y(n, c) = x(n, c) * rstd(n) * weight(c);
  }
}

void RefBackend::do_rmsnorm_backward(const RmsnormBackwardArgs& args) {
  const auto x = reals(args.x);
  const auto weight = reals(args.weight);
  const auto rstd = reals(args.rstd);
  const auto dy = reals(args.dy);
  const auto dx = reals(args.dx);
  const auto dweight = reals(args.dweight);
  const Index dim = x.size(1);
  for (Index n = 0; n < x.size(0); ++n) {
    double mean = 0;
    for (Index c = 0; c < dim; ++c) {
      mean += dy(n, c) * weight(c) * x(n, c) * rstd(n) / static_cast<double>(dim);
    }
    for (Index c = 0; c < dim; ++c) {
      const double g = dy(n, c) * weight(c);
      const double h = x(n, c) * rstd(n);
      dx(n, c) += rstd(n) * (g - h * mean);
      dweight(c) += dy(n, c) * h;
    }
  }
}

}  // namespace bam::ref
