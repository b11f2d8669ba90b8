// cast, add and sum: the little that is not fused elsewhere.
#pragma once

#include "kernels/tensor.h"

namespace bam {

// to = from, rounded to nearest even; dtypes real or bf16, shapes of equal count.
struct CastArgs {
  ConstTensorView from;
  TensorView to;
};

// x += y; both of equal count; x real, y real or bf16.
struct AddArgs {
  TensorView x;
  ConstTensorView y;
};

// total[0] += sum of x, or of its squares; summed in double, in an order that depends on the count of x alone. NaN and
// Inf pass through.
// shapes    x any, real; total [1] f64
struct SumArgs {
  ConstTensorView x;
  TensorView total;
  bool squares = false;
};

}  // namespace bam
