#include "kernels/cuda/library.h"

#include "build_id.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/driver.h"

extern "C" __attribute__((visibility("default"))) const bam::cuda::Library bam_cuda_library;
const bam::cuda::Library bam_cuda_library{kBuildId, &bam::cuda::describe_devices, &bam::cuda::count_devices,
                                          &bam::cuda::make_cuda_backend};
