// rotary - RoPE on interleaved pairs (Su et al. 2021, arXiv 2104.09864).
#pragma once

#include <span>

#include "kernels/tensor.h"

namespace bam {

// table[t,k] = (cos, sin) of (first_position + t) * inverse_frequency[k], times magnitude.
// Angles are formed and reduced in double: positions of half a million keep all their bits.
// shapes    inverse_frequency: d/2 values on the host; table [T,d/2,2] real
struct RotaryTableArgs {
  std::span<const double> inverse_frequency;
  Index first_position = 0;
  double magnitude = 1.0;
  TensorView table;
};

// Rotates pairs (2k, 2k+1) of x in place by the table's angles; inverse rotates back, which is also the gradient.
// shapes    x [B,T,H,d] real or bf16, d even; table [T,d/2,2] real
struct RotaryArgs {
  TensorView x;
  ConstTensorView table;
  bool inverse = false;
};

}  // namespace bam
