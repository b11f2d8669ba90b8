// What every op of this backend works with: how many threads, which instruction set, and scratch memory that is kept.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/types.h"
#include "kernels/cpu/isa.h"

namespace bam::cpu {

// 64-byte aligned memory, not initialised; throws Error, which names the size, when there is none.
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* data) noexcept;

// Memory that grows and is never given back before the end: after the first step of a training loop, whose shapes
// repeat, nothing is allocated any more. Growing does not keep the contents.
class Scratch {
 public:
  void* get(std::size_t bytes);

 private:
  struct Release {
    void operator()(void* data) const { release_aligned(data); }
  };
  std::unique_ptr<void, Release> data_;
  std::size_t bytes_ = 0;
};

// Shared scratch by purpose, so that an op may hold two at once. Ops run one after another and share them.
enum class Slot : int { matmul_a, matmul_b, matmul_c, matmul_library, partial_sums, attention_a, attention_b, count };

struct CpuContext {
  CpuContext(int thread_count, Isa instruction_set);

  int threads;
  Isa isa;
  const SimdKernels* simd;

  // For the calling thread of a parallel region, 0 <= thread < threads; contents last until the next call for that
  // thread. An exception must not leave a parallel region: ask for the largest size before it, as get() then only
  // returns the pointer.
  void* scratch(int thread, std::size_t bytes) {
    return per_thread_[static_cast<std::size_t>(thread)].memory.get(bytes);
  }
  void reserve_per_thread(std::size_t bytes) {
    for (int t = 0; t < threads; ++t) scratch(t, bytes);
  }
  // For the thread that runs the op, outside parallel regions; contents last until the next call for that slot.
  void* shared(Slot slot, std::size_t bytes) { return shared_[static_cast<std::size_t>(slot)].get(bytes); }

 private:
  struct alignas(64) PerThread {  // a cache line each: neighbours would share one otherwise
    Scratch memory;
  };
  std::vector<PerThread> per_thread_;
  std::vector<Scratch> shared_;
};

}  // namespace bam::cpu
