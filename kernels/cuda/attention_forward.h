// What attention forward and the plan of what it can leave out share: a block's queries as rows of its warps, and their
// logits.
#pragma once

#include "kernels/cuda/attention_tiles.h"

namespace bam::cuda::tensor {

// Bands of sixteen queries that a warp holds: with two, every fragment of keys and values that it loads serves twice as
// many products; at 128 dimensions there are no registers for that.
template <int D>
constexpr int kBands = D <= 64 ? 2 : 1;
template <int D>
constexpr int kRows = 16 * kWarps* kBands<D>;
template <int D>
constexpr int kBiases = kRows<D> + kTile;  // distances between a block and a tile, and one to spare
constexpr int kColumns = kTile / 8;

// Queries of a block.
inline Index rows_of_block(Index dim) {
  Index rows = 0;
  for_dim(dim, [&]<int D>() { rows = kRows<D>; });
  return rows;
}

// What a thread knows of its rows, 8 r + g of its warp.
template <int kCount>
struct Rows {
  int first_position;                          // of row 0 of the warp, the others follow
  int lowest, highest;                         // first keys of the warp
  float factor[kCount], prior_factor[kCount];  // as in Row
  float maximum[kCount];
  float sum[kCount];  // of this thread's columns
};

template <int D>
using WarpRows = Rows<2 * kBands<D>>;
template <int D>
using Scores = float[kBands<D>][kColumns][4];
template <int D>
using Out = float[kBands<D>][D / 8][4];

template <int D>
BAM_DEVICE WarpRows<D> describe_rows(const AttentionInputs& in, Index batch, Index head, Index first, const Lane& at) {
  WarpRows<D> rows;
  const Index own = first + 16 * kBands<D> * at.warp;
  rows.first_position = static_cast<int>(in.keys - in.queries + own);
  const FirstKeys keys = first_keys_of<16 * kBands<D>>(in, batch, own);
  rows.lowest = keys.lowest;
  rows.highest = keys.highest;
  BAM_UNROLL
  for (int r = 0; r < 2 * kBands<D>; ++r) {
    const Row row = describe_row(in, batch, head, own + 8 * r + at.g);
    rows.factor[r] = row.factor;
    rows.prior_factor[r] = row.prior_factor;
    rows.maximum[r] = -INFINITY;
    rows.sum[r] = 0.0F;
  }
  return rows;
}

// The first keys of a block's queries, which only masked tiles ask for.
template <int D>
BAM_DEVICE void copy_first_keys(std::int32_t* to, const AttentionInputs& in, Index batch, Index first) {
  static_assert(kRows<D> <= kThreads);
  const Index row = threadIdx.x;
  if (row >= kRows<D>) return;
  to[row] = first + row < in.queries ? in.first_key[batch * in.queries + first + row] : kNoKey;
}

// Products become logits; hidden ones -inf, whatever the product was. Element i of an accumulator stands in row
// 8 (i / 2) of its band, column i % 2 of its pair. bias: of row 0 and column 0 of the warp; first_keys:
// of its rows.
template <int D, bool kMasked>
BAM_DEVICE void to_logits(Scores<D>& scores, const WarpRows<D>& rows, const float* bias, bool has_prior,
                          const std::int32_t* first_keys, int first_key, const Lane& at) {
  const float* const own_bias = bias + at.g - 2 * at.t;
  BAM_UNROLL
  for (int band = 0; band < kBands<D>; ++band) {
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      BAM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int r = 2 * band + i / 2;
        float x = scores[band][n][i] * rows.factor[r];
        if (has_prior) x += own_bias[8 * (r - n) - i % 2] * rows.prior_factor[r];
        if (kMasked) {
          const int key = first_key + 8 * n + 2 * at.t + i % 2;
          const bool visible = key <= rows.first_position + 8 * r + at.g && key >= first_keys[8 * r + at.g];
          x = visible ? x : -INFINITY;
        }
        scores[band][n][i] = x;
      }
    }
  }
}

}  // namespace bam::cuda::tensor
