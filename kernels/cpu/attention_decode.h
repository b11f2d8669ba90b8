// Attention of a few queries, as in generation: split over keys, so that every thread has some however few the heads.
#pragma once

#include "kernels/cpu/context.h"
#include "kernels/cpu/simd/attention.h"
#include "kernels/ops/attention.h"

namespace bam::cpu {

// Few queries and more keys than one tile.
bool is_decoding(const AttentionInputs& in);

// As attention_forward, to rounding: sums are formed by ranges of keys, at fixed places, so that neither the number of
// threads nor the other queries change the bits.
void decode_attention(const AttentionForwardArgs& args, const AttentionForward& call, CpuContext& ctx);

}  // namespace bam::cpu
