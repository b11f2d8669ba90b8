// The door of the library: what the registry looks up by name after it has opened the file.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"

namespace bam::cuda {

struct Library {
  const char* build_id;                          // of the sources; must be that of the tools (build_id.h)
  std::string (*describe)();                     // what there is; throws Error "why there is nothing"
  int (*count)();                                // of devices, at least one; likewise
  std::unique_ptr<Backend> (*open)(int device);  // likewise
};

}  // namespace bam::cuda

inline constexpr char kCudaLibraryEntry[] = "bam_cuda_library";
