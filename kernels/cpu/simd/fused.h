// The ops that are one pass over memory; kernels.h describes their arguments.
#pragma once

#include "kernels/cpu/simd/kernels.h"

namespace bam::cpu::BAM_ISA {

void add(float* x, const float* y, Index n);
void add_half(float* x, const Bf16* y, Index n);
double sum(const float* x, Index n);
double sum_of_squares(const float* x, Index n);
void rmsnorm_forward(const RmsnormForwardRows& args);
void rmsnorm_backward(const RmsnormBackwardRows& args);
void swiglu_forward(const SwigluForwardRange& args);
void swiglu_backward(const SwigluBackwardRange& args);
CrossEntropyResult cross_entropy(const CrossEntropyRow& args);
void optimizer_step(const OptimizerRange& args);
void rotary(const RotaryHeads& args);

}  // namespace bam::cpu::BAM_ISA
