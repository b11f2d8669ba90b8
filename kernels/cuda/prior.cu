#include "kernels/cuda/device.h"
#include "kernels/cuda/ops.h"
#include "kernels/ops/prior.h"

namespace bam::cuda {
namespace {

constexpr unsigned kThreads = 256;

// A thread per entry, in double as kernels/ops/prior.h asks; pow in the attention loops is what the table is for.
BAM_KERNEL void prior_table_kernel(PriorTable args) {
  const Index n = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index head = blockIdx.y;
  if (n >= args.distances) return;
  const double shape = args.shape[head];
  const double loc = args.loc[head];
  const double x = fabs(-static_cast<double>(n) - (exp(loc) - exp(-loc))) + kPriorFloor;
  const double b = -exp(static_cast<double>(args.scale[head])) * pow(x, shape);
  args.table[head * args.distances + n] = static_cast<float>(b < kPriorLowest ? kPriorLowest : b);
}

}  // namespace

void prior_table(const PriorTable& args, void* stream) {
  if (args.heads == 0 || args.distances == 0) return;
  const auto blocks = static_cast<unsigned>((args.distances + kThreads - 1) / kThreads);
  launch(&prior_table_kernel, {blocks, static_cast<unsigned>(args.heads), 1}, kThreads, 0, stream, args);
}

}  // namespace bam::cuda
