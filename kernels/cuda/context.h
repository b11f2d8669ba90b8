// What every op of this backend works with: the stream that its kernels go to, and memory for the length of a call.
#pragma once

#include <cstddef>

#include "kernels/cuda/memory.h"

namespace bam::cuda {

struct Context {
  void* stream;
  Memory* memory;
};

// Given back at the end of the call, when its kernels may not have run yet: what takes it next comes behind them on
// the same stream.
template <typename T>
class Scratch {
 public:
  Scratch(const Context& ctx, Index count)
      : memory_(ctx.memory), data_(static_cast<T*>(memory_->take(static_cast<std::size_t>(count) * sizeof(T)))) {}
  ~Scratch() { memory_->give(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() const { return data_; }

 private:
  Memory* memory_;
  T* data_;
};

}  // namespace bam::cuda
