#pragma once

#include "kernels/cpu/simd/kernels.h"

namespace bam::cpu::BAM_ISA {

void widen(const Bf16* x, float* y, Index n);
void narrow(const float* x, Bf16* y, Index n);
void exp_array(const float* x, float* y, Index n);
void exp2_array(const float* x, float* y, Index n);

}  // namespace bam::cpu::BAM_ISA
