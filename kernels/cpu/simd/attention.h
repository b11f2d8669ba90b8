// The calls of fused attention: one block of queries, or of one head's keys, is a task; ../attention.cpp deals them
// out.
#pragma once

#include "kernels/cpu/simd/kernels.h"

namespace bam::cpu {

// One call of attention, unpacked; the names and the mathematics are those of kernels/ops/attention.h.
struct AttentionInputs {
  Index queries, keys, heads, kv_heads, dim;
  Index distances;   // entries of the prior by head
  bool bf16;         // of q, k, v, and in backward of dout, dq, dk, dv; float otherwise
  bool scale_prior;  // SSMax in the full form
  const void *q, *k, *v;
  const float* prior;  // null for none
  const std::int32_t* first_key;
  const float* ssmax_scale;  // null for off
};

// Queries that share one pass over the keys: each tile of keys and values is fetched and widened once for all of them.
constexpr Index kAttentionQueries = 128;

// Up to so many queries are decoded: lanes hold keys, not queries. About where half of a panel would be empty.
constexpr Index kDecodeQueries = 8;

// Distances for which the prior's extremes are kept together.
constexpr Index kPriorBlock = 16;

// What certified skipping goes by: attention_skip.cpp.
struct AttentionSkip {
  float log2_eps;
  const float* key_bounds;  // [B, key_blocks, Hkv, 2d]: the largest k, the largest -k
  Index key_blocks;
  const float* key_magnitude;           // [B, Hkv]: the largest |k|
  const float *prior_high, *prior_low;  // [H, prior_blocks], null without a prior
  Index prior_blocks;
};

struct AttentionForward {
  AttentionInputs in;
  float *out, *lse;
  const AttentionSkip* skip;  // null: every visible pair is computed
};

struct AttentionBackward {
  AttentionInputs in;
  const float *out, *lse;
  const void* dout;
  void* dq;
};

// What one task of backward adds to: all of one (batch, key head). Strides are attention_stride(dim) floats.
struct AttentionSums {
  float *dk, *dv;        // [S, stride], columns beyond dim stay 0
  double* by_distance;   // [heads of the group, distances], sum of dl (ln n dl for full); null to skip
  double* dssmax_scale;  // [heads of the group]; null to skip
};

struct AttentionKernels {
  // Queries [first, first + count) of one (batch, head), count <= kAttentionQueries, first a multiple of the lanes of
  // two vectors. scratch: floats, 64-byte aligned. Returns the number of visible pairs that were left out.
  Index (*forward)(const AttentionForward& call, Index batch, Index head, Index first, Index count, float* scratch);
  // Queries [first, first + count) of all heads that share (batch, kv_head), any count: writes their dq, adds to sums.
  void (*backward)(const AttentionBackward& call, Index batch, Index kv_head, Index first, Index count,
                   const AttentionSums& sums, float* scratch);
  // Rows [first, first + count) of (batch, kv_head) of to [B,S,Hkv,d] = the sum, in order, of part_count arrays
  // [S, stride] that stand part_stride floats apart. row: scratch of one row.
  void (*store_keys)(const AttentionInputs& in, Index batch, Index kv_head, Index first, Index count,
                     const float* parts, Index part_stride, Index part_count, void* to, float* row);
  // Bounds of one block of rows (kernels/ops/attention.h); k and v are bf16 when half is set. bounds [2d].
  void (*key_bounds)(const void* k, const void* v, bool half, Index stride, Index rows, Index dim, float* bounds);
  // Decoding: all heads of a batch entry and its queries, kDecodeQueries at most, over the keys [first, end), first a
  // multiple of kKeyBlock. skips [H][key_blocks] as decode_plan wrote them head by head (it returns the pairs and needs
  // forward_scratch), or null. parts [H][queries][part_size]; combine() joins those of one query, `stride` floats
  // apart, to its row of out.
  Index (*decode_plan)(const AttentionForward& call, Index batch, Index head, std::uint8_t* skips, float* scratch);
  void (*decode)(const AttentionForward& call, Index batch, Index first, Index end, const std::uint8_t* skips,
                 float* parts, float* scratch);
  void (*combine)(const float* parts, Index ranges, Index stride, Index dim, float* out, float* lse);
  Index (*part_size)(Index dim);
  Index (*decode_scratch)(Index heads, Index dim);
  Index (*forward_scratch)(Index dim, Index key_blocks);  // floats of scratch; key_blocks 0 without skipping
  Index (*backward_scratch)(Index dim, Index keys);
  Index (*stride)(Index dim);
};

}  // namespace bam::cpu
