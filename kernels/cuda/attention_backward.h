// Backward attention in four steps, none of which adds in an order that could differ: prepare() writes what the others
// need to know of every row; one kernel goes over the keys of each block of queries, for dq and the sums along
// diagonals; another over the queries of each block of keys, for dk and dv; finish() adds up the sums. Two kernels
// compute the probabilities twice (7 products in place of 5), and in return no two blocks ever add to the same number.
#pragma once

#include "kernels/cuda/attention_rows.h"

namespace bam::cuda {

// Of a query of a head, 16 bytes.
struct RowGradient {
  float factor, prior_factor;  // as in Row
  float lse;                   // times log2(e)
  float delta;                 // dout . out
};

struct BackwardCall {
  AttentionBackward args;
  Index ranges;         // into which the blocks of queries are dealt out; each has sums of its own
  Index distances;      // in use: no pair is further apart
  RowGradient* rows;    // [B,H,T]
  float* by_distance;   // [B,H,ranges,distances] sums of dl (ln n dl for full); null to skip
  float* scale_sums;    // [B,H,ranges] sums of ln n dl q.k / sqrt(d); null to skip
  FirstKeys* tiles;     // [B, tiles of 64 queries]
  double* prior_parts;  // [H, distance blocks] what the full form's bias adds to dssmax_scale; null to skip
};

constexpr int kDistanceBlock = 256;

// tile k of a range: dealt out there and back, so that all ranges have tiles of all lengths.
BAM_DEVICE Index tile_of_range(Index range, Index k, Index ranges) {
  return k * ranges + (k % 2 == 0 ? range : ranges - 1 - range);
}

// The row's place among [B,H,T].
BAM_DEVICE Index row_index_of(const AttentionInputs& in, Index batch, Index head, Index query) {
  return (batch * in.heads + head) * in.queries + query;
}

namespace plain {
void backward_queries(const BackwardCall& call, void* stream);
void backward_keys(const BackwardCall& call, void* stream);
constexpr Index kQueryTile = 32;
}  // namespace plain

namespace tensor {
void backward_queries(const BackwardCall& call, void* stream);
void backward_keys(const BackwardCall& call, void* stream);
constexpr Index kBackwardTile = 64;
}  // namespace tensor

}  // namespace bam::cuda
