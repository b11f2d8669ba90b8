// Fused attention: blockwise online softmax, scores never in memory, tasks over (batch, head, block of queries) forward
// and (batch, key head) backward. See simd/attention_tile.h for how a task works.
#pragma once

#include "kernels/cpu/context.h"
#include "kernels/ops/attention.h"

namespace bam::cpu {

void key_bounds(const KeyBoundsArgs& args, CpuContext& ctx);
void attention_forward(const AttentionForwardArgs& args, CpuContext& ctx);
void attention_backward(const AttentionBackwardArgs& args, CpuContext& ctx);

}  // namespace bam::cpu
