#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_matmul(const MatmulArgs& args) {
  const auto a = reals(args.a);
  const auto b = reals(args.b);
  const auto c = reals(args.c);
  const Index depth = a.size(args.transpose_a ? 0 : 1);
  for (Index m = 0; m < c.size(0); ++m) {
    for (Index n = 0; n < c.size(1); ++n) {
      double sum = 0;
      for (Index k = 0; k < depth; ++k) {
        sum += (args.transpose_a ? a(k, m) : a(m, k)) * (args.transpose_b ? b(n, k) : b(k, n));
      }
      c(m, n) = args.accumulate ? c(m, n) + sum : sum;
    }
  }
}

}  // namespace bam::ref
