// How much memory a job may still take, so that what cannot fit is refused before it starts.
#pragma once

namespace bam {

// Bytes: what the machine has available, or less where a control group (a container, a Slurm job) leaves less.
double available_memory_bytes();

}  // namespace bam
