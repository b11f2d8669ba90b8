// Matrix products through oneDNN.
#pragma once

#include <memory>

#include "kernels/cpu/context.h"
#include "kernels/ops/matmul.h"

namespace bam::cpu {

bool has_native_bf16();  // oneDNN multiplies bf16 matrices with instructions made for it

// Keeps the primitives that were made, so that a loop with repeating shapes makes none.
class Matmul {
 public:
  Matmul();
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  void run(const MatmulArgs& args, CpuContext& ctx);

 private:
  class Primitives;
  std::unique_ptr<Primitives> primitives_;  // null where bf16 is not native
};

}  // namespace bam::cpu
