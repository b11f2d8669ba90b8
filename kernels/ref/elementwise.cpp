#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_cast(const CastArgs& args) {
  const auto from = reals(args.from);
  const auto to = reals(args.to);
  for (Index i = 0; i < to.count(); ++i) to.flat(i) = from.flat(i);
}

void RefBackend::do_add(const AddArgs& args) {
  const auto x = reals(args.x);
  const auto y = reals(args.y);
  for (Index i = 0; i < x.count(); ++i) x.flat(i) += y.flat(i);
}

double RefBackend::do_sum_of_squares(ConstTensorView x) {
  double sum = 0;
  for (Index i = 0; i < x.count(); ++i) sum += reals(x).flat(i) * reals(x).flat(i);
  return sum;
}

double RefBackend::do_sum(ConstTensorView x) {
  double sum = 0;
  for (Index i = 0; i < x.count(); ++i) sum += reals(x).flat(i);
  return sum;
}

}  // namespace bam::ref
