// What forward and backward attention share: the queries of a block as vector lanes, tiles of keys, masks and bias.
//
// Scores are held transposed: a row is one key, its lanes are consecutive queries. Then a row's bias is a contiguous
// piece of the per-distance table, SSMax factors, maxima and sums are plain vectors with no sums across lanes, and keys
// and values enter products as the broadcast side, so that neither is ever packed or transposed. Logits are kept times
// log2(e), which saves the multiplication inside every exponential.
#pragma once

#include "kernels/cpu/simd/attention.h"
#include "kernels/cpu/simd/gemm.h"

namespace bam::cpu::BAM_ISA {

// Keys of a tile. With 64 keys of 64 floats a tile of K or V is 16 KiB: K, V, and a panel of queries, scores and
// outputs stay in a 512 KiB L2 many times over, and half of them in L1.
constexpr Index kTile = 64;  // kKeyBlock of kernels/ops/attention.h
constexpr int kMaxPanels = static_cast<int>(kAttentionQueries / kPanel);

constexpr double kLog2e = 1.4426950408889634;
constexpr std::int32_t kNoKey = 0x7fffffff;  // first key of a lane without a query: sees nothing

// Queries first .. first + count - 1 of one (batch, head), in panels of kPanel lanes.
struct QueryBlock {
  Index first;
  Index count;
  int panels;
  alignas(64) float scale[kAttentionQueries];        // z log2(e) / sqrt(d)
  alignas(64) float prior_scale[kAttentionQueries];  // log2(e), times z for full
  alignas(64) float log_keys[kAttentionQueries];     // ln n, 0 without a query
  alignas(64) std::int32_t position[kAttentionQueries];
  alignas(64) std::int32_t first_key[kAttentionQueries];
  // By panel. Keys within [clear_from, first_position] are seen by every lane, and are the only one of none.
  Index first_position[kMaxPanels], last_position[kMaxPanels];
  Index lowest_first_key[kMaxPanels], clear_from[kMaxPanels];
};

// The functions of AttentionKernels.
Index attention_forward(const AttentionForward& call, Index batch, Index head, Index first, Index count,
                        float* scratch);
void attention_key_bounds(const void* k, const void* v, bool half, Index stride, Index rows, Index dim, float* bounds);
void attention_backward(const AttentionBackward& call, Index batch, Index kv_head, Index first, Index count,
                        const AttentionSums& sums, float* scratch);
void attention_store_keys(const AttentionInputs& in, Index batch, Index kv_head, Index first, Index count,
                          const float* parts, Index part_stride, Index part_count, void* to, float* row);
Index attention_decode_plan(const AttentionForward& call, Index batch, Index head, std::uint8_t* skips, float* scratch);
void attention_decode(const AttentionForward& call, Index batch, Index first, Index end, const std::uint8_t* skips,
                      float* parts, float* scratch);
void attention_combine(const float* parts, Index ranges, Index stride, Index dim, float* out, float* lse);
Index attention_part_size(Index dim);
Index attention_decode_scratch(Index heads, Index dim);
Index attention_forward_scratch(Index dim, Index key_blocks);
Index attention_backward_scratch(Index dim, Index keys);

// One panel against one tile of keys.
struct TilePanel {
  Index dim;
  Index first_key;  // key of the first row
  Index rows;
  Index ld;  // of keys and values
  const float* prior;
  Index distances;
  const QueryBlock* block;
  int panel;
  Index offset() const { return Index{panel} * kPanel; }
  // Rows [clear_begin, clear_end) are seen by every lane; those before and after need a mask.
  Index clear_begin() const {
    const Index row = block->clear_from[panel] - first_key;
    return row < 0 ? 0 : (row < rows ? row : rows);
  }
  Index clear_end() const {
    const Index row = block->first_position[panel] + 1 - first_key;
    return row < clear_begin() ? clear_begin() : (row < rows ? row : rows);
  }
  bool needs_mask() const { return clear_begin() > 0 || clear_end() < rows; }
};

void describe_queries(const AttentionInputs& in, Index batch, Index head, Index first, Index count, QueryBlock& block);

// Rows [first, first + count) of one head of x [B, length, heads, dim], as floats, row stride ld; columns from dim to
// the next multiple of kLanes become 0. True when all of them are finite.
bool copy_rows(const AttentionInputs& in, const void* x, Index length, Index heads, Index batch, Index head,
               Index first, Index count, float* y, Index ld);

// All queries of a block, of x [B,T,H,d], in both layouts: rows [lanes][padded_stride(dim)] and panels
// [panel][dim][kPanel]; lanes without a query hold 0. True when all of them are finite.
bool pack_queries(const AttentionInputs& in, const void* x, Index batch, Index head, const QueryBlock& block,
                  float* rows, float* panels);

// The first key of the first tile that any query of the block sees.
Index first_tile(const QueryBlock& block);

// y[at .. at + dim) = x, in the type of the inputs.
void store_row(const AttentionInputs& in, const float* x, void* y, Index at);

// scores[key][lane] = logits of a panel (times log2 e) from its queries [dim][kPanel]; maximum becomes the larger of
// itself and every score of a lane.
void score_tile(const TilePanel& t, const float* queries, const float* keys, float* scores, Vec (&maximum)[2]);

// body.operator()<kMasked>(first row, rows) over the rows of a tile, masked only where some lane does not see a key: at
// the diagonal 2 panels' worth of rows in a tile of 64, so masks cost little even in short sequences.
template <typename Body>
BAM_INLINE void for_visible_parts(const TilePanel& t, Body&& body) {
  const Index clear_begin = t.clear_begin();
  const Index clear_end = t.clear_end();
  body.template operator()<true>(Index{0}, clear_begin);
  body.template operator()<false>(clear_begin, clear_end - clear_begin);
  body.template operator()<true>(clear_end, t.rows - clear_end);
}

// The bias of lanes at distance, distance + 1, ...; outside the table (hidden keys) 0.
template <bool kMasked>
BAM_INLINE Vec bias_at(const float* prior, Index distances, Index distance) {
  if (!kMasked || (distance >= 0 && distance + kLanes <= distances)) return load(prior + distance);
  Vec bias{};
  for (int i = 0; i < kLanes; ++i) {
    if (distance + i >= 0 && distance + i < distances) bias[i] = prior[distance + i];
  }
  return bias;
}

BAM_INLINE IVec visible(const TilePanel& t, Index key, int v) {
  const Index lane = t.offset() + v * kLanes;
  const IVec j = broadcast(static_cast<std::int32_t>(key));
  return (j <= load(t.block->position + lane)) & (load(t.block->first_key + lane) <= j);
}

// Logits of one key for kLanes queries, from the products q.k; hidden ones are -inf, whatever the product was.
template <bool kPrior, bool kMasked>
BAM_INLINE Vec logits(const TilePanel& t, Vec product, Index key, int v) {
  const Index lane = t.offset() + v * kLanes;
  Vec x = product * load(t.block->scale + lane);
  if (kPrior) {
    const Index distance = t.block->first_position[t.panel] + v * kLanes - key;
    x = fma(bias_at<kMasked>(t.prior, t.distances, distance), load(t.block->prior_scale + lane), x);
  }
  if (kMasked) x = select(visible(t, key, v), x, broadcast(-__builtin_inff()));
  return x;
}

}  // namespace bam::cpu::BAM_ISA
