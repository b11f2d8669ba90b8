// Certified skipping: what it goes by, and what its users share, attention_skip.cu for blocks of queries,
// attention_decode.cu and attention_plain_skip.cu. How it works is told in attention_skip.cu.
#pragma once

#include "kernels/cuda/attention_tiles.h"

namespace bam::cuda::tensor {

struct Skip {
  float log2_eps;
  const float* key_bounds;  // [B, key_blocks, Hkv, 2d]
  Index key_blocks;
  float *prior_high, *prior_low;  // [H, prior_blocks], null without a prior
  Index prior_blocks;
  float* magnitudes;  // [B, Hkv, magnitude_parts]: the largest |k| of some blocks
  Index magnitude_parts;
  std::uint32_t* needed;  // [B,H,blocks,words]: bit n of word w tells whether the block needs tile 32 w + n of keys
  Index words;
  Index* pairs;  // [B,H,blocks] visible pairs left out; null where everything is computed
};

struct ForwardCall {
  AttentionForward args;
  Skip skip;
};

constexpr int kSeeds = 4;        // tiles with the highest bounds that are computed for the sake of m_i
constexpr int kPriorBlock = 16;  // distances for which the prior's extremes are kept together

// Room for rounding: of the bound, of the logits it stands for and of m_i, all of them sums of up to 2d products, which
// tensor cores may round towards zero; and in the logarithms.
constexpr float kUnit = 0x1p-24F;
constexpr float kLogSlack = 0x1p-10F;
BAM_BOTH constexpr float slack_of(int dim) {
  return static_cast<float>(8 * dim + 128) * kUnit;
}
template <int D>
constexpr float kSlack = slack_of(D);

BAM_DEVICE float max_of_warp(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, shuffle_xor(x, mask));
  return x;
}

// The extremes of the prior over the distances between positions [first, last] and the keys of a tile before them, and
// a little beyond at both ends.
struct PriorRange {
  float high, low;
};
BAM_DEVICE PriorRange prior_range(const Skip& skip, Index head, int first, int last, int tile) {
  if (skip.prior_high == nullptr) return {0.0F, 0.0F};
  const Index nearest = (first - (tile * kTile + kTile - 1)) / kPriorBlock;
  const Index furthest = (last - tile * kTile) / kPriorBlock;
  PriorRange range{-INFINITY, INFINITY};
  for (Index i = nearest; i <= furthest && i < skip.prior_blocks; ++i) {
    range.high = fmaxf(range.high, skip.prior_high[head * skip.prior_blocks + i]);
    range.low = fminf(range.low, skip.prior_low[head * skip.prior_blocks + i]);
  }
  return range;
}

// What is left of a block's tiles: how many, and those of the highest excess, best first.
struct Seeds {
  float excess[kSeeds];
  int tile[kSeeds];
  int count, needed;

  BAM_DEVICE void clear() { count = needed = 0; }
  BAM_DEVICE void offer(int number, float value) {
    ++needed;
    if (count == kSeeds && !(value > excess[kSeeds - 1])) return;
    int place = count < kSeeds ? count++ : kSeeds - 1;
    for (; place > 0 && value > excess[place - 1]; --place) {
      tile[place] = tile[place - 1];
      excess[place] = excess[place - 1];
    }
    tile[place] = number;
    excess[place] = value;
  }
};

// The visible pairs of the queries [first, first + rows) with the tiles [begin, end) that are not needed: this thread's
// share of them.
BAM_DEVICE Index pairs_left_out(const AttentionInputs& in, const std::uint32_t* needed, Index batch, Index first,
                                int rows, int begin, int end) {
  Index pairs = 0;
  for (int tile = begin + static_cast<int>(threadIdx.x); tile < end; tile += kThreads) {
    if ((needed[tile / 32] >> (tile % 32) & 1U) != 0) continue;
    for (Index query = first; query < first + rows && query < in.queries; ++query) {
      const int hidden = in.first_key[batch * in.queries + query] - tile * kTile;
      pairs += hidden <= 0 ? kTile : hidden < kTile ? kTile - hidden : 0;
    }
  }
  return pairs;
}

// From this key on, the first of a tile that the block needs; `end` or beyond if there is none.
BAM_DEVICE int next_needed(const std::uint32_t* needed, int key, int end) {
  while (needed != nullptr && key < end) {
    const int tile = key / kTile;
    const std::uint32_t word = needed[tile / 32] >> (tile % 32);
    if ((word & 1U) != 0) break;
    key = (word == 0 ? tile / 32 * 32 + 32 : tile + 1) * kTile;
  }
  return key;
}

// The largest |k| of a head of keys; by a whole warp.
BAM_DEVICE float largest_key_of(const Skip& skip, Index batch_head) {
  const float* const magnitudes = skip.magnitudes + batch_head * skip.magnitude_parts;
  float largest = 0.0F;
  for (Index i = threadIdx.x % 32; i < skip.magnitude_parts; i += 32) largest = fmaxf(largest, magnitudes[i]);
  return max_of_warp(largest);
}

// Queries as q+ before q-, and where their factor is negative q- before q+.
template <int D>
BAM_DEVICE void split_signs(Bf16* parts, const Bf16* queries, const bool* negative, int rows) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * D; i += kThreads) {
    const int row = i / D;
    const Bf16 q = queries[row * kStride<D> + i % D];
    const bool below = (q & 0x8000U) != 0;
    Bf16* const to = parts + row * kStride<2 * D> + i % D;
    const int first = below == negative[row] ? 0 : D;
    to[first] = static_cast<Bf16>(q & 0x7fffU);
    to[D - first] = 0;
  }
}

// The bounds of 64 tiles, exact, as keys are bf16 themselves.
template <int D>
BAM_DEVICE void load_bounds(Bf16* to, const Skip& skip, Index batch, Index kv_heads, Index kv_head, int first_tile) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * 2 * D; i += kThreads) {
    const int tile = first_tile + i / (2 * D);
    const int c = i % (2 * D);
    const bool exists = tile < skip.key_blocks;
    const Index block = batch * skip.key_blocks + (exists ? tile : 0);
    const float bound = exists ? skip.key_bounds[(block * kv_heads + kv_head) * 2 * D + c] : 0.0F;
    to[i / (2 * D) * kStride<2 * D> + c] = static_cast<Bf16>(pack_bf16(bound, 0.0F) & 0xffffU);
  }
}

// Whether a call skips at all, and if so the memory for the extremes.
bool plan_bounds(const AttentionForward& args, Skip& skip, Pieces& pieces);
void find_extremes(const ForwardCall& call, void* stream);

// Lays out call.skip in the scratch memory, for blocks of `rows` queries, and returns the size of that, 0 when nothing
// is to be skipped.
std::size_t plan_skip(const AttentionForward& args, Index rows, ForwardCall& call);
// Fills it.
void find_needed(const ForwardCall& call, void* stream);
// Writes the shares of what was left out, which call.skip.pairs has of `blocks` for each head of each sequence.
void store_shares(const ForwardCall& call, Index blocks, void* stream);

}  // namespace bam::cuda::tensor
