// Plain attention: any head dimension, float or bf16 in memory and float in every product. Four threads share a row;
// tiles of 32 rows stand in shared memory as floats.
#pragma once

#include "kernels/cuda/attention_skip.h"

namespace bam::cuda::plain {

constexpr int kTile = 32;  // queries and keys
constexpr int kThreads = 4 * kTile;
constexpr int kOwn = kTile / 4;  // rows of the other side that a thread multiplies its own row with
constexpr int kWeightStride = kTile + 1;
constexpr int kWeights = kTile * kWeightStride;

// The place of a thread: a row, and every fourth of what belongs to it, from `part` on.
struct Seat {
  int row, part;
};
BAM_DEVICE Seat seat() {
  const int thread = static_cast<int>(threadIdx.x);
  return {thread / 4, thread % 4};
}

// Odd, so that rows begin in different banks.
BAM_BOTH constexpr int row_stride(Index dim) {
  return static_cast<int>(dim) | 1;
}

// Rows [first, first + kTile) of one head of x [B, length, heads, dim]; zeros where there is no row.
BAM_DEVICE void load_tile(float* to, const void* x, bool bf16, Index batch, Index length, Index heads, Index head,
                          Index first, int dim) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * dim; i += kThreads) {
    const Index position = first + i / dim;
    const float value =
        position < length ? load_value(x, bf16, ((batch * length + position) * heads + head) * dim + i % dim) : 0.0F;
    to[i / dim * row_stride(dim) + i % dim] = value;
  }
}

// products[u] = row . others[part + 4 u]
BAM_DEVICE void multiply_rows(float (&products)[kOwn], const float* row, const float* others, int part, int dim) {
  BAM_UNROLL
  for (int u = 0; u < kOwn; ++u) products[u] = 0.0F;
  for (int c = 0; c < dim; ++c) {
    const float x = row[c];
    BAM_UNROLL
    for (int u = 0; u < kOwn; ++u) products[u] = fmaf(x, others[(part + 4 * u) * row_stride(dim) + c], products[u]);
  }
}

// Products with the keys from `key` on become logits; those of hidden keys -inf.
BAM_DEVICE void to_logits(float (&scores)[kOwn], const Row& row, const float* prior, int key, int part) {
  BAM_UNROLL
  for (int u = 0; u < kOwn; ++u) {
    const int j = key + part + 4 * u;
    const bool visible = is_visible(row, j);
    const float bias = visible && prior != nullptr ? prior[row.position - j] : 0.0F;
    scores[u] = visible ? scores[u] * row.factor + bias * row.prior_factor : -INFINITY;
  }
}

// sums[e] += weight row[part + 4 e]
template <int kColumns>
BAM_DEVICE void add_row(float (&sums)[kColumns], float weight, const float* row, int part, int dim) {
  BAM_UNROLL
  for (int e = 0; e < kColumns; ++e) {
    if (part + 4 * e < dim) sums[e] = fmaf(weight, row[part + 4 * e], sums[e]);
  }
}

// The instantiation that holds a row of `dim`, up to 32, 64, 128 or 256.
template <typename Launcher, std::size_t kCount>
Launcher launcher_for(Index dim, const Launcher (&launchers)[kCount]) {
  Index most = 32;
  for (const Launcher& each : launchers) {
    if (dim <= most) return each;
    most *= 2;
  }
  return launchers[kCount - 1];
}

std::size_t forward_scratch(const AttentionForward& args);
void forward(const AttentionForward& args, void* stream);

// Which tiles of keys each kTile queries need: fills call.skip.
void find_needed(const tensor::ForwardCall& call, void* stream);

}  // namespace bam::cuda::plain
