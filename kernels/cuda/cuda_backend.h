// cuda - kernels of this folder and cuBLASLt on one device, one stream: the library's Backend.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"

namespace bam::cuda {

std::string describe_devices();  // "NVIDIA H200, ..."; throws Error where there is none to use

// BAM_CUDA_TF32=1 in the environment lets f32 products use the tensor cores.
std::unique_ptr<Backend> make_cuda_backend(int device);

}  // namespace bam::cuda
