// What certified skipping needs from outside a task: see simd/attention_skip.h for how it works.
#pragma once

#include <optional>

#include "kernels/cpu/context.h"
#include "kernels/cpu/simd/attention.h"
#include "kernels/ops/attention.h"

namespace bam::cpu {

// What the tasks of a call go by, in shared scratch (Slot::attention_a); empty when skipping is not asked for, or when
// there are too few keys for it to pay.
std::optional<AttentionSkip> plan_skipping(const AttentionForwardArgs& args, const AttentionInputs& in,
                                           CpuContext& ctx);

// Writes args.skipped from the pairs that the tasks [B,H,blocks] left out.
void write_skipped_share(const AttentionForwardArgs& args, const AttentionInputs& in, const double* pairs,
                         Index blocks);

}  // namespace bam::cpu
