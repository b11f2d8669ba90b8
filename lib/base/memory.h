// How much memory a job may still take, so that what cannot fit is refused before it starts; and how it is given back.
#pragma once

namespace bam {

// Bytes: what the machine has available, or less where a control group (a container, a Slurm job) leaves less.
double available_memory_bytes();

// From now on blocks of a megabyte and more go back to the system when they are freed. Left to itself the C library
// raises that size with the blocks it has seen, and each thread keeps as much as its largest work took.
void give_back_large_blocks();

// What small blocks left behind that are freed, too. Takes milliseconds.
void give_back_free_memory();

}  // namespace bam
