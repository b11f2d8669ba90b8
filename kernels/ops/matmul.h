// matmul - c [+]= op(a) op(b), the matrix product everything else is built around.
#pragma once

#include "kernels/tensor.h"

namespace bam {

// shapes    op(a) [M,K], op(b) [K,N], c [M,N]; op transposes when asked: y = x W^T is {x, W, .transpose_b = true}
// dtypes    a and b alike, real or bf16; c real, or bf16 when a and b are and nothing accumulates
// numerics  products summed in the real type, in an order that is fixed for given shapes and thread count
// bounds    f32: 1e-6 sqrt(K) of the largest entry (tests/support/tolerances.h)
// aliasing  c overlaps neither a nor b
struct MatmulArgs {
  ConstTensorView a;
  ConstTensorView b;
  TensorView c;
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;  // c += rather than c =
};

}  // namespace bam
