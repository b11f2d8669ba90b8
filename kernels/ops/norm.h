// rmsnorm - y = x / sqrt(mean(x^2) + eps) * weight   (Zhang and Sennrich 2019, arXiv 1910.07467)
#pragma once

#include "kernels/tensor.h"

namespace bam {

// shapes    x [N,D] real, weight [D] real, y [N,D] real or bf16
//           rstd [N] real: 1 / sqrt(mean(x^2) + eps), kept for the backward pass; sums in the real type
struct RmsnormForwardArgs {
  ConstTensorView x;
  ConstTensorView weight;
  double eps = 1e-5;
  TensorView y;
  TensorView rstd;
};

// With g = dy * weight and h = x * rstd:  dx += rstd (g - h mean(g h)),  dweight += sum_n dy h.
// dx accumulates because x also feeds the residual, whose gradient is already there.
// shapes    x, dy, dx [N,D]; weight, dweight [D]; rstd [N]; dy real or bf16, the rest real
// dweight   is summed over fixed slices of rows in order: the same bits for the same thread count
struct RmsnormBackwardArgs {
  ConstTensorView x;
  ConstTensorView weight;
  ConstTensorView rstd;
  ConstTensorView dy;
  TensorView dx;
  TensorView dweight;
};

}  // namespace bam
