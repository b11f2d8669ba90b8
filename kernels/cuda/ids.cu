#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

BAM_DEVICE Index lower(Index a, Index b) {
  return a < b ? a : b;
}

// One block looks at all of them: the first that is wrong is kept, unless an earlier call has left one.
BAM_KERNEL void check_ids_kernel(const std::int32_t* ids, Index count, IdRange range, Index call, WrongId* found) {
  Index* const shared = reinterpret_cast<Index*>(shared_memory());
  Index first = count;
  for (Index i = thread_index(); i < count; i += kBlockThreads) {
    if (ids[i] < range.low_at(i) || ids[i] >= range.high_at(i)) first = lower(first, i);
  }
  for (int mask = 16; mask > 0; mask /= 2) first = lower(first, shuffle_xor(first, mask));
  if (lane_index() == 0) shared[warp_index()] = first;
  sync_block();
  if (thread_index() != 0) return;
  for (int warp = 0; warp < kBlockWarps; ++warp) first = lower(first, shared[warp]);
  if (first < count && found->call == 0) *found = {call, first, ids[first]};
}

}  // namespace

void check_ids(const std::int32_t* ids, Index count, const IdRange& range, Index call, WrongId* found,
               const Context& ctx) {
  if (count == 0) return;
  launch(&check_ids_kernel, {}, kBlockThreads, kBlockWarps * sizeof(Index), ctx.stream, ids, count, range, call, found);
}

}  // namespace bam::cuda
