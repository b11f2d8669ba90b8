// The pieces of a layer's forward pass that training and evaluation share. Rows are positions of all windows: N = B T.
#pragma once

#include "model/model.h"
#include "model/position_tables.h"

namespace bam {

// norm = rmsnorm(x); q, k, v = norm Wq^T, Wk^T, Wv^T, rotated where the model rotates.
// shapes  x [N,D], norm [N,D] compute, rstd [N]; q [B,T,H,d], k, v [B,T,Hkv,d] compute; rotary of T positions or empty
//         With B = 1, q may be [1,R,H,d] for the R rows from first_query on, or empty for none.
struct QkvArgs {
  ConstTensorView x;
  TensorView norm, rstd, q, k, v;
  ConstTensorView rotary;
  Index first_query = 0;
};
void project_qkv(const Model& model, Index layer, const QkvArgs& args);

// x += attention(q, k, v) Wo^T.
// shapes  attended [B,T,H,d] real, attended_product the same in the compute type (unused where that is real)
// skipping by key_bounds, and the share skipped, as in AttentionForwardArgs; none without bounds
struct AttendArgs {
  ConstTensorView q, k, v, prior, first_key;
  TensorView attended, attended_product, lse, x;
  ConstTensorView key_bounds = {};
  TensorView skipped = {};
};
void attend(const Model& model, Index layer, const AttendArgs& args);

// x += (silu(norm Wg^T) * norm Wu^T) Wd^T, norm = rmsnorm(x).
struct FeedForwardArgs {
  TensorView norm, rstd, gate, up, act, x;
};
void feed_forward(const Model& model, Index layer, const FeedForwardArgs& args);

// Rows of logits that are computed at a time, of `rows`: enough for the product to run at speed, few enough that a
// slice over a vocabulary of 32768 stays at 64 MiB.
Index head_rows(const ModelConfig& config, Index rows);

// [B,T,H,d] as the rows of a product, [B T, H d].
TensorView flat(const TensorView& heads);
ConstTensorView flat(const ConstTensorView& heads);

// A view in the compute type: `view` itself, or `rounded` after a cast.
ConstTensorView as_product(const Model& model, ConstTensorView view, TensorView rounded);

}  // namespace bam
