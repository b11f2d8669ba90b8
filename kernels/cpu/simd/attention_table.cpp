#include "kernels/cpu/simd/attention_tile.h"

namespace bam::cpu::BAM_ISA {

extern const AttentionKernels kAttentionKernels;
const AttentionKernels kAttentionKernels = {
    .forward = &attention_forward,
    .backward = &attention_backward,
    .store_keys = &attention_store_keys,
    .key_bounds = &attention_key_bounds,
    .forward_scratch = &attention_forward_scratch,
    .backward_scratch = &attention_backward_scratch,
    .stride = &padded_stride,
};

}  // namespace bam::cpu::BAM_ISA
