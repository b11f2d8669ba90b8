#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

BAM_DEVICE Index lower(Index a, Index b) {
  return a < b ? a : b;
}

BAM_DEVICE bool is_wrong(const IdRange& range, Index i, Index id) {
  return id < range.low_at(i) || id >= range.high_at(i);
}

// One block looks at all of them. The first that is wrong is kept, unless an earlier call has left one, and all that
// are wrong are replaced by the nearest that is not: no kernel behind this one follows them to a wild address.
BAM_KERNEL void check_ids_kernel(std::int32_t* ids, Index count, IdRange range, Index kind, WrongId* found) {
  Index* const shared = reinterpret_cast<Index*>(shared_memory());
  Index first = count;
  for (Index i = thread_index(); i < count; i += kBlockThreads) {
    if (is_wrong(range, i, ids[i])) first = lower(first, i);
  }
  for (int mask = 16; mask > 0; mask /= 2) first = lower(first, shuffle_xor(first, mask));
  if (lane_index() == 0) shared[warp_index()] = first;
  sync_block();
  for (int warp = 0; warp < kBlockWarps; ++warp) first = lower(first, shared[warp]);
  if (first == count) return;
  if (thread_index() == 0 && found->kind == 0) *found = {kind, first, ids[first], range};
  sync_block();  // before it is replaced
  for (Index i = thread_index(); i < count; i += kBlockThreads) {
    if (!is_wrong(range, i, ids[i])) continue;
    ids[i] = static_cast<std::int32_t>(ids[i] < range.low_at(i) ? range.low_at(i) : range.high_at(i) - 1);
  }
}

}  // namespace

void check_ids(std::int32_t* ids, Index count, const IdRange& range, Index kind, WrongId* found, const Context& ctx) {
  if (count == 0) return;
  launch(&check_ids_kernel, {}, kBlockThreads, kBlockWarps * sizeof(Index), ctx.stream, ids, count, range, kind, found);
}

}  // namespace bam::cuda
