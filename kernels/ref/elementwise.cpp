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

void RefBackend::do_sum(const SumArgs& args) {
  const auto x = reals(args.x);
  double sum = 0;
  for (Index i = 0; i < x.count(); ++i) sum += args.squares ? x.flat(i) * x.flat(i) : x.flat(i);
  reals(args.total)(0) += sum;
}

}  // namespace bam::ref
