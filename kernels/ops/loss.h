// cross_entropy - negative log-likelihood of targets under softmax(logits), its gradient, and whether the target won.
#pragma once

#include "kernels/tensor.h"

namespace bam {

// nll[n] = ln sum_v exp(logits[n,v]) - logits[n, targets[n]] in nats; 0 where targets[n] < 0 (not scored).
// hit[n] = 1 when logits[n, targets[n]] is larger than every other logit of the row (a tie is a miss), else 0.
// dlogits[n,v] = grad_scale[0] (softmax_v - [v = target]); 0 for rows not scored.
// shapes    logits [N,V] real; targets [N] i32, one of V or above is an Error; nll [N] real; hit [N] i32 or empty;
//           dlogits [N,V] real or bf16, or empty; grad_scale [1] real, or empty for 1
// aliasing  dlogits may be logits itself when real
struct CrossEntropyArgs {
  ConstTensorView logits;
  ConstTensorView targets;
  TensorView nll;
  TensorView hit{};
  TensorView dlogits{};
  ConstTensorView grad_scale{};
};

}  // namespace bam
