// Which instruction sets this build has kernels for, and which this CPU can run.
#pragma once

#include <string_view>

#include "kernels/cpu/simd/kernels.h"

namespace bam::cpu {

inline constexpr Isa kAllIsas[] = {Isa::portable, Isa::avx2, Isa::avx512};  // in order of preference, best last

std::string_view name_of(Isa isa);  // as BAM_CPU_ISA spells it

// The kernels of one instruction set; null when the compiler could not build them or this CPU cannot run them.
const SimdKernels* find_simd_kernels(Isa isa);

Isa best_isa();

}  // namespace bam::cpu
