// What the CUDA library can do, in device pointers; the mathematics and the names are those of kernels/ops. Functions
// put work on a stream and return; a call that is refused throws Error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace bam::cuda {

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
