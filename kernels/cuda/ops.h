// What the CUDA library can do, in device pointers; the mathematics and the names are those of kernels/ops. Functions
// put work on a stream and return; a call that is refused throws Error.
#pragma once

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

// kernels/ops/attention.h, q, k, v in bf16. prior and ssmax_scale are null for none.
struct AttentionForward {
  const std::uint16_t *q, *k, *v;  // [B,T,H,d], [B,S,Hkv,d] twice, 16-byte aligned
  const float* prior;              // [H, distances]
  const std::int32_t* first_key;   // [B,T]
  const float* ssmax_scale;        // [H]
  bool scale_prior;                // SSMax in the full form
  Index batch, queries, keys, heads, kv_heads, dim, distances;
  float* out;  // [B,T,H,d]
  float* lse;  // [B,H,T]
};
bool has_attention_for(Index dim);  // 16, 32, 48, 64, 128
void attention_forward(const AttentionForward& args, void* stream);

}  // namespace bam::cuda
