#include "kernels/cpu/context.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"

namespace bam::cpu {

void* allocate_aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  void* data = nullptr;
  // Not aligned_alloc: its size must be a multiple of the alignment, and rounding up could wrap around.
  if (posix_memalign(&data, kAlignment, std::max<std::size_t>(bytes, 1)) != 0) {
    throw Error("memory: " + std::to_string(bytes) +
                " bytes were refused, a smaller model, batch or context is needed");
  }
  return data;
}

void release_aligned(void* data) noexcept {
  std::free(data);
}

void* Scratch::get(std::size_t bytes) {
  if (bytes > bytes_ || data_ == nullptr) {
    data_.reset();  // first, so that old and new do not stand side by side
    bytes_ = 0;
    data_.reset(allocate_aligned(bytes));
    bytes_ = bytes;
  }
  return data_.get();
}

CpuContext::CpuContext(int thread_count, Isa instruction_set)
    : threads(thread_count),
      isa(instruction_set),
      simd(find_simd_kernels(instruction_set)),
      per_thread_(static_cast<std::size_t>(thread_count)),
      shared_(static_cast<std::size_t>(Slot::count)) {}

}  // namespace bam::cpu
