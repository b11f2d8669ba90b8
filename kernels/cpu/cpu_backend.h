// cpu - oneDNN matrix products and SIMD kernels over OpenMP threads: the default backend.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"

namespace bam::cpu {

std::string describe_machine();  // instruction set in use and what this CPU has
std::unique_ptr<Backend> make_cpu_backend(int threads);

}  // namespace bam::cpu
