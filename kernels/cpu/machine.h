// What this process may use of the machine: instruction set, threads, memory, and what oneDNN makes of it.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/cpu/isa.h"

namespace bam::cpu {

// The best instruction set that is built in and that this CPU has, or the one BAM_CPU_ISA names (portable, avx2,
// avx512), which then caps oneDNN too. Throws Error for a set that cannot be had here. The first call decides for
// oneDNN, whatever the variable says later.
Isa choose_isa();

// threads as asked for; for 0 what OpenMP starts with: OMP_NUM_THREADS, else the CPUs that this process is allowed on.
int choose_threads(int threads);

// Bytes that can still be had without others being killed for them: free and reclaimable memory and free swap, within
// the limit of the control group. Very large where the system does not say.
std::size_t available_memory();

std::string describe_libraries();  // "oneDNN 2.6.3, bf16 products widened to f32"

}  // namespace bam::cpu
