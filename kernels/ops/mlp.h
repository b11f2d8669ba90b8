// swiglu - out = silu(gate) up, silu(g) = g / (1 + exp(-g))   (Shazeer 2020, arXiv 2002.05202)
#pragma once

#include "kernels/tensor.h"

namespace bam {

// shapes    gate, up, out [N,F]; real or bf16, alike; evaluated in the real type
struct SwigluForwardArgs {
  ConstTensorView gate;
  ConstTensorView up;
  TensorView out;
};

// dgate = dout up silu'(gate), dup = dout silu(gate), out recomputed from gate and up (so that it need not be kept).
// shapes    all [N,F]; real or bf16, alike. dgate and dup may be gate and up themselves; out may be dout.
struct SwigluBackwardArgs {
  ConstTensorView gate;
  ConstTensorView up;
  ConstTensorView dout;
  TensorView dgate;
  TensorView dup;
  TensorView out;
};

}  // namespace bam
