// CUDA's runtime and cuBLASLt without a device: the calls that kernels/cuda/driver.cpp and product.cpp make, over the
// memory of the host, and with faults on demand. Compiled against the toolkit's own headers.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <string>

namespace bam::test::fake {

struct Machine {
  int driver = 13000;
  int runtime = 13000;
  int devices = 1;
  int major = 9, minor = 0;
  std::size_t free_bytes = std::size_t{1} << 30;
  int shared_bytes = 227 << 10;                 // a block of threads may have
  std::map<std::string, cudaError_t> failures;  // by the name of a call: what it returns
  bool recording = false;
  int allocated = 0;
  // Of the last matrix product: how it was asked for.
  bool tf32 = false;
  std::size_t workspace = 0;
  bool has_kernels = true;  // cuBLASLt finds one
  int searches = 0;
};
Machine& machine();

}  // namespace bam::test::fake
