#include "kernels/cpu/simd/convert.h"
#include "kernels/cpu/simd/vec.h"

namespace bam::cpu::BAM_ISA {

extern const SimdKernels kKernels;
const SimdKernels kKernels = {
    .lanes = kLanes,
    .widen = &widen,
    .narrow = &narrow,
    .exp = &exp_array,
    .exp2 = &exp2_array,
};

}  // namespace bam::cpu::BAM_ISA
