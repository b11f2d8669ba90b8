// cast, add, fill and sum of squares: the little that is not fused elsewhere.
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

}  // namespace bam
