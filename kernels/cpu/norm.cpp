#include "kernels/ops/norm.h"

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

// dweight is summed over slices of rows that do not depend on the thread count, so that every count gives the same
// bits; no more slices than this, since each has a row of sums of its own.
constexpr Index kMostSlices = 128;
constexpr Index kLeastSliceRows = 32;

}  // namespace

void rmsnorm_forward(const RmsnormForwardArgs& args, CpuContext& ctx) {
  const Index dim = args.x.shape[1];
  parallel_rows(ctx, args.x.shape[0], dim, [&](Index first, Index last) {
    ctx.simd->rmsnorm_forward({.x = at<float>(args.x, first * dim),
                               .weight = at<float>(args.weight),
                               .eps = static_cast<float>(args.eps),
                               .rows = last - first,
                               .dim = dim,
                               .y = at(args.y, first * dim),
                               .half = is_half(args.y),
                               .rstd = at<float>(args.rstd, first)});
  });
}

void rmsnorm_backward(const RmsnormBackwardArgs& args, CpuContext& ctx) {
  const Index rows = args.x.shape[0];
  const Index dim = args.x.shape[1];
  const Index slices = std::clamp<Index>(rows / kLeastSliceRows, 1, kMostSlices);
  auto* sums =
      static_cast<float*>(ctx.shared(Slot::partial_sums, static_cast<std::size_t>(slices * dim) * sizeof(float)));
  const Index slice_elements = std::max<Index>(1, rows * dim / slices);
  parallel_rows(ctx, slices, slice_elements, [&](Index first_slice, Index last_slice) {
    for (Index slice = first_slice; slice < last_slice; ++slice) {
      const Index first = rows * slice / slices;
      const Index last = rows * (slice + 1) / slices;
      std::fill_n(sums + slice * dim, dim, 0.0f);
      ctx.simd->rmsnorm_backward({.x = at<float>(args.x, first * dim),
                                  .weight = at<float>(args.weight),
                                  .rstd = at<float>(args.rstd, first),
                                  .dy = at(args.dy, first * dim),
                                  .half = is_half(args.dy),
                                  .rows = last - first,
                                  .dim = dim,
                                  .dx = at<float>(args.dx, first * dim),
                                  .dweight = sums + slice * dim});
    }
  });
  for (Index slice = 1; slice < slices; ++slice) ctx.simd->add(sums, sums + slice * dim, dim);
  ctx.simd->add(at<float>(args.dweight), sums, dim);
}

}  // namespace bam::cpu
