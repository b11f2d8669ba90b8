#include "kernels/cpu/simd/convert.h"
#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/vec.h"

namespace bam::cpu::BAM_ISA {

extern const AttentionKernels kAttentionKernels;  // attention_table.cpp
extern const SimdKernels kKernels;
const SimdKernels kKernels = {
    .lanes = kLanes,
    .widen = &widen,
    .narrow = &narrow,
    .add = &add,
    .add_half = &add_half,
    .sum = &sum,
    .sum_of_squares = &sum_of_squares,
    .rmsnorm_forward = &rmsnorm_forward,
    .rmsnorm_backward = &rmsnorm_backward,
    .swiglu_forward = &swiglu_forward,
    .swiglu_backward = &swiglu_backward,
    .cross_entropy = &cross_entropy,
    .optimizer_step = &optimizer_step,
    .rotary = &rotary,
    .exp = &exp_array,
    .exp2 = &exp2_array,
    .attention = &kAttentionKernels,
};

}  // namespace bam::cpu::BAM_ISA
