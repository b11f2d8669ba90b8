#include "kernels/ops/rotary.h"

#include <cmath>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {

void rotary_table(const RotaryTableArgs& args, CpuContext& ctx) {
  constexpr Index kOperations = 128;  // a sine and a cosine cost as much as so many additions
  const auto pairs = static_cast<Index>(args.inverse_frequency.size());
  parallel_rows(ctx, args.table.shape[0], pairs * kOperations, [&](Index first, Index last) {
    for (Index t = first; t < last; ++t) {
      for (Index k = 0; k < pairs; ++k) {
        const double angle =
            static_cast<double>(args.first_position + t) * args.inverse_frequency[static_cast<std::size_t>(k)];
        float* pair = at<float>(args.table, (t * pairs + k) * 2);
        pair[0] = static_cast<float>(args.magnitude * std::cos(angle));
        pair[1] = static_cast<float>(args.magnitude * std::sin(angle));
      }
    }
  });
}

void rotary(const RotaryArgs& args, CpuContext& ctx) {
  const Index length = args.x.shape[1];
  const Index heads = args.x.shape[2];
  const Index dim = args.x.shape[3];
  parallel_rows(ctx, args.x.shape[0] * length, heads * dim, [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      ctx.simd->rotary({.x = at(args.x, n * heads * dim),
                        .half = is_half(args.x),
                        .table = at<float>(args.table, n % length * dim),
                        .inverse = args.inverse,
                        .heads = heads,
                        .dim = dim});
    }
  });
}

}  // namespace bam::cpu
