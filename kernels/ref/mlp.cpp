#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {
namespace {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

double silu(double x) {
  return x * sigmoid(x);
}

double silu_derivative(double x) {
  return sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)));
}

}  // namespace

void RefBackend::do_swiglu_forward(const SwigluForwardArgs& args) {
  const auto gate = reals(args.gate);
  const auto up = reals(args.up);
  const auto out = reals(args.out);
  for (Index i = 0; i < out.count(); ++i) out.flat(i) = silu(gate.flat(i)) * up.flat(i);
}

void RefBackend::do_swiglu_backward(const SwigluBackwardArgs& args) {
  const auto dgate = reals(args.dgate);
  const auto dup = reals(args.dup);
  const auto out = reals(args.out);
  for (Index i = 0; i < out.count(); ++i) {
    // Read before anything is written: the results may lie on the arguments.
    const double gate = reals(args.gate).flat(i);
    const double up = reals(args.up).flat(i);
    const double dout = reals(args.dout).flat(i);
    dgate.flat(i) = dout * up * silu_derivative(gate);
    dup.flat(i) = dout * silu(gate);
    out.flat(i) = silu(gate) * up;
  }
}

}  // namespace bam::ref
