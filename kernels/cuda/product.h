// Product - matrix products of the device. product.cpp is over cuBLASLt; tests/cuda_on_host has one of plain loops.
#pragma once

#include <memory>

#include "kernels/cuda/context.h"
#include "kernels/ops/matmul.h"

namespace bam::cuda {

// Keeps what was found for a shape, so that a loop with repeating shapes asks for nothing.
class Product {
 public:
  // tf32: f32 operands are rounded to 10 bits of significand for the tensor cores.
  explicit Product(bool tf32);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void run(const MatmulArgs& args, const Context& ctx);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace bam::cuda
