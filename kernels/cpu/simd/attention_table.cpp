#include "kernels/cpu/simd/attention_tile.h"

namespace bam::cpu::BAM_ISA {

extern const AttentionKernels kAttentionKernels;
const AttentionKernels kAttentionKernels = {
    .forward = &attention_forward,
    .backward = &attention_backward,
    .store_keys = &attention_store_keys,
    .key_bounds = &attention_key_bounds,
    .decode_plan = &attention_decode_plan,
    .decode = &attention_decode,
    .combine = &attention_combine,
    .part_size = &attention_part_size,
    .decode_scratch = &attention_decode_scratch,
    .forward_scratch = &attention_forward_scratch,
    .backward_scratch = &attention_backward_scratch,
    .stride = &padded_stride,
};

}  // namespace bam::cpu::BAM_ISA
