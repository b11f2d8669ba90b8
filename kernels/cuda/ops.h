// What the CUDA library can do, in memory of the device; the mathematics and the names are those of kernels/ops.
// Functions put work on a stream and return; a call that is refused throws Error. Arguments come checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/cuda/context.h"

namespace bam::cuda {

template <typename T>
const T* data_of(const ConstTensorView& view) {
  return static_cast<const T*>(view.data);
}
template <typename T>
T* data_of(const TensorView& view) {
  return static_cast<T*>(view.data);
}
inline bool is_half(const ConstTensorView& view) {
  return view.dtype == DType::bf16;
}

void cast(const CastArgs& args, const Context& ctx);
void add(const AddArgs& args, const Context& ctx);
void sum(const SumArgs& args, const Context& ctx);
void embedding_forward(const EmbeddingForwardArgs& args, const Context& ctx);
void embedding_backward(const EmbeddingBackwardArgs& args, const Context& ctx);
void sinusoidal_table(const SinusoidalTableArgs& args, const Context& ctx);
void rmsnorm_forward(const RmsnormForwardArgs& args, const Context& ctx);
void rmsnorm_backward(const RmsnormBackwardArgs& args, const Context& ctx);
// The frequencies and slopes of the arguments once more, in memory of the device.
void rotary_table(const RotaryTableArgs& args, const double* inverse_frequency, const Context& ctx);
void alibi_table(const AlibiTableArgs& args, const double* slopes, const Context& ctx);
void rotary(const RotaryArgs& args, const Context& ctx);
void prior_backward(const PriorBackwardArgs& args, const Context& ctx);
void swiglu_forward(const SwigluForwardArgs& args, const Context& ctx);
void swiglu_backward(const SwigluBackwardArgs& args, const Context& ctx);
void cross_entropy(const CrossEntropyArgs& args, const Context& ctx);
void optimizer_step(const OptimizerStepArgs& args, const Context& ctx);
void plain_product(const MatmulArgs& args, const Context& ctx);

// The first id that was found out of its range, in memory of the device; kind 0 for none yet. Wrong ids are replaced.
struct WrongId {
  Index kind, place, id;
  IdRange range;
};
void check_ids(std::int32_t* ids, Index count, const IdRange& range, Index kind, WrongId* found, const Context& ctx);

// kernels/ops/prior.h: [H] each, table [H, distances].
struct PriorTable {
  const float *shape, *scale, *loc;
  float* table;
  Index heads, distances;
};
void prior_table(const PriorTable& args, void* stream);

struct KeyBounds {
  const void *k, *v;  // [B,S,Hkv,d]
  bool bf16;
  Index batch, keys, kv_heads, dim;
  Index first;
  float* bounds;  // [B,N,Hkv,2d]
};
void key_bounds(const KeyBounds& args, void* stream);

// What both directions of attention read: kernels/ops/attention.h. Tensor cores work where q, k, v are bf16 at
// addresses that are multiples of 16 and heads have 16, 32, 48, 64 or 128 dimensions; all else up to kMostHeadDim is
// done by plain float kernels.
inline constexpr Index kMostHeadDim = 256;
struct AttentionInputs {
  const void *q, *k, *v;          // [B,T,H,d], [B,S,Hkv,d] twice
  bool bf16;                      // q, k, v, and in backward dout, dq, dk, dv; float otherwise
  const float* prior;             // [H, distances], null for none
  const std::int32_t* first_key;  // [B,T]
  const float* ssmax_scale;       // [H], null for off
  bool scale_prior;               // SSMax in the full form
  Index batch, queries, keys, heads, kv_heads, dim, distances;
};

bool takes_tensor_cores(const AttentionInputs& in);

struct AttentionForward {
  AttentionInputs in;
  float* out;               // [B,T,H,d]
  float* lse;               // [B,H,T]
  double skip_eps;          // 0: every visible pair is computed
  const float* key_bounds;  // [B,N,Hkv,2d], null for none
  float* skipped;           // [H], null for none
  void* scratch;            // attention_forward_scratch() bytes, aligned to 16
};
std::size_t attention_forward_scratch(const AttentionForward& args);
void attention_forward(const AttentionForward& args, void* stream);

// The same bits every time: no sum depends on the order in which blocks run.
struct AttentionBackward {
  AttentionInputs in;
  const float *out, *lse;
  const void* dout;
  void *dq, *dk, *dv;
  float* dprior;        // [H, distances], added to; null for frozen
  float* dssmax_scale;  // [H], likewise
  void* scratch;        // attention_backward_scratch() bytes, aligned to 16
};
std::size_t attention_backward_scratch(const AttentionBackward& args);
void attention_backward(const AttentionBackward& args, void* stream);

}  // namespace bam::cuda
