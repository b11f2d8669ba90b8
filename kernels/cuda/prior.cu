#include "kernels/ops/prior.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

// In double as kernels/ops/prior.h asks; pow in the attention loops is what the table is for.
struct Prior {
  double shape, strength, loc;

  BAM_DEVICE double offset(Index distance) const { return -static_cast<double>(distance) - (exp(loc) - exp(-loc)); }
  BAM_DEVICE double at_x(double x) const { return -strength * pow(x, shape); }
};

BAM_DEVICE Prior prior_of(const float* shape, const float* scale, const float* loc, Index head) {
  return {static_cast<double>(shape[head]), exp(static_cast<double>(scale[head])), static_cast<double>(loc[head])};
}

// A thread an entry.
BAM_KERNEL void prior_table_kernel(PriorTable args) {
  const Index n = grid_index();
  const Index head = blockIdx.y;
  if (n >= args.distances) return;
  const Prior prior = prior_of(args.shape, args.scale, args.loc, head);
  const double b = prior.at_x(fabs(prior.offset(n)) + kPriorFloor);
  args.table[head * args.distances + n] = static_cast<float>(b < kPriorLowest ? kPriorLowest : b);
}

struct Gradients {
  const float *shape, *scale, *loc, *dtable;
  float *dshape, *dscale, *dloc;
  Index distances;
};

BAM_DEVICE void add_to(float* sum, Index head, double value) {
  if (sum != nullptr) sum[head] += static_cast<float>(value);
}

// A block a head; the order of its sums depends on the number of distances alone.
BAM_KERNEL void prior_backward_kernel(Gradients args) {
  constexpr double kNoSign = 1e-4;
  double* const shared = reinterpret_cast<double*>(shared_memory());
  const Index head = blockIdx.x;
  const Prior prior = prior_of(args.shape, args.scale, args.loc, head);
  double dshape = 0;
  double dscale = 0;
  double dloc = 0;
  for (Index n = thread_index(); n < args.distances; n += kBlockThreads) {
    const double offset = prior.offset(n);
    const double x = fabs(offset) + kPriorFloor;
    const double b = prior.at_x(x);
    if (b < kPriorLowest) continue;
    const double grad_b = static_cast<double>(args.dtable[head * args.distances + n]) * b;
    dscale += grad_b;
    dshape += grad_b * log(x);
    if (fabs(offset) > kNoSign) dloc -= grad_b * (prior.shape / x) * (offset > 0 ? 1.0 : -1.0);
  }
  dshape = block_sum(dshape, shared);
  dscale = block_sum(dscale, shared);
  dloc = block_sum(dloc, shared);
  if (thread_index() != 0) return;
  add_to(args.dshape, head, dshape);
  add_to(args.dscale, head, dscale);
  add_to(args.dloc, head, dloc * (exp(prior.loc) + exp(-prior.loc)));
}

BAM_KERNEL void alibi_kernel(const double* slopes, Index distances, float* table) {
  const Index n = grid_index();
  const Index head = blockIdx.y;
  if (n < distances) table[head * distances + n] = static_cast<float>(-slopes[head] * static_cast<double>(n));
}

}  // namespace

void prior_table(const PriorTable& args, void* stream) {
  if (args.heads == 0 || args.distances == 0) return;
  launch(&prior_table_kernel, {blocks_of(args.distances, kBlockThreads), static_cast<unsigned>(args.heads), 1},
         kBlockThreads, 0, stream, args);
}

void prior_backward(const PriorBackwardArgs& args, const Context& ctx) {
  const Index heads = args.dtable.shape[0];
  if (heads == 0) return;
  launch(&prior_backward_kernel, {static_cast<unsigned>(heads), 1, 1}, kBlockThreads, kBlockWarps * sizeof(double),
         ctx.stream,
         Gradients{data_of<float>(args.shape), data_of<float>(args.scale), data_of<float>(args.loc),
                   data_of<float>(args.dtable), data_of<float>(args.dshape), data_of<float>(args.dscale),
                   data_of<float>(args.dloc), args.dtable.shape[1]});
}

void alibi_table(const AlibiTableArgs& args, const double* slopes, const Context& ctx) {
  if (args.table.count() == 0) return;
  launch(&alibi_kernel, {blocks_of(args.table.shape[1], kBlockThreads), static_cast<unsigned>(args.table.shape[0]), 1},
         kBlockThreads, 0, ctx.stream, slopes, args.table.shape[1], data_of<float>(args.table));
}

}  // namespace bam::cuda
