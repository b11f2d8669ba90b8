// embedding - rows of the token table, with sinusoidal positions added where the model has them.
#pragma once

#include "kernels/tensor.h"

namespace bam {

// out[b,t,:] = weight[tokens[b,t],:] (+ positions[t,:])
// shapes    tokens [B,T] i32 in [0,V): an id outside is an Error, before anything is written; weight [V,D],
//           positions [T,D] or empty, out [B,T,D]; real
struct EmbeddingForwardArgs {
  ConstTensorView tokens;
  ConstTensorView weight;
  ConstTensorView positions;
  TensorView out;
};

// dweight[tokens[b,t],:] += dout[b,t,:], summed in the order of (b,t) whatever the thread count.
// shapes    tokens [B,T] i32, dout [B,T,D], dweight [V,D]; real
struct EmbeddingBackwardArgs {
  ConstTensorView tokens;
  ConstTensorView dout;
  TensorView dweight;
};

// table[t,c] = sin(p theta^(-c/D)) at even c, cos(p theta^(-c/D)) at odd c (the odd index itself, as the BAM authors
// have it), p = first_position + t; computed in double.  shapes table [T,D] real
struct SinusoidalTableArgs {
  Index first_position = 0;
  double theta = 10000.0;
  TensorView table;
};

}  // namespace bam
