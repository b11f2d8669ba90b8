// Tiles of bf16 in shared memory and products of them on tensor cores. Four warps, each with kBands bands of sixteen
// rows; the accumulator of a product of rows with rows has the layout of the left operand of the next product, so
// probabilities never leave registers.
#pragma once

#include "kernels/cuda/attention_rows.h"

namespace bam::cuda::tensor {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kTile = 64;  // rows of a tile of keys

// A row is 16 bytes longer than its values: eight rows that are read together begin in eight different groups of banks,
// for every D here.
template <int D>
constexpr int kStride = D + 8;
template <int D>
constexpr int kTileValues = kTile* kStride<D>;

// The place of a thread: rows 8 r + g of its warp, columns 8 n + 2 t and the next.
struct Lane {
  int warp, lane, g, t;
};
BAM_DEVICE Lane lane_of_thread() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {static_cast<int>(threadIdx.x) / 32, lane, lane / 4, lane % 4};
}

// Starts the copy of rows [first, first + kRows) of one head of x [B, length, heads, D], the first of which exists;
// zeros where there is no row. Places within the tile are 32-bit numbers, which takes fewer registers.
template <int D, int kRows>
BAM_DEVICE void fetch_rows(Bf16* to, const void* x, Index batch, Index length, Index heads, Index head, Index first) {
  constexpr int kChunks = D / 8;  // of 16 bytes
  static_assert(kRows * kChunks % kThreads == 0);
  const Bf16* const from = static_cast<const Bf16*>(x) + ((batch * length + first) * heads + head) * D;
  const int rows = static_cast<int>(length - first < kRows ? length - first : kRows);
  const int stride = static_cast<int>(heads) * D;
  BAM_UNROLL
  for (int step = 0; step < kRows * kChunks / kThreads; ++step) {
    const int i = step * kThreads + static_cast<int>(threadIdx.x);
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    copy_async_16(to + row * kStride<D> + chunk * 8, from + (row < rows ? row * stride : 0) + chunk * 8, row < rows);
  }
}

// Whether an infinity or NaN is among what this thread copied with fetch_rows<D, kRows>(): known before the barrier
// that shows a tile to the others, which can tell them.
template <int D, int kRows>
BAM_DEVICE bool copied_not_finite(const Bf16* tile) {
  constexpr int kChunks = D / 8;
  bool found = false;
  BAM_UNROLL
  for (int step = 0; step < kRows * kChunks / kThreads; ++step) {
    const int i = step * kThreads + static_cast<int>(threadIdx.x);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(tile + i / kChunks * kStride<D> + i % kChunks * 8);
    for (int w = 0; w < 4; ++w) {
      found = found || (words[w] & 0x7f80U) == 0x7f80U || (words[w] & 0x7f800000U) == 0x7f800000U;
    }
  }
  return found;
}

// The left operand of a product: a warp's rows, held in registers where there is room.
template <int D, int kBands, bool kHeld>
class Left {
 public:
  BAM_DEVICE void take(const Bf16* rows_of_warp, int lane) {
    at_ = rows_of_warp + lane % 16 * kStride<D> + 8 * (lane / 16);
    if constexpr (kHeld) {
      BAM_UNROLL
      for (int band = 0; band < kBands; ++band) {
        BAM_UNROLL
        for (int step = 0; step < D / 16; ++step) load(held_[band][step], band, step);
      }
    }
  }
  BAM_DEVICE void get(std::uint32_t (&fragment)[4], int band, int step) const {
    if constexpr (kHeld) {
      for (int i = 0; i < 4; ++i) fragment[i] = held_[band][step][i];
    } else {
      load(fragment, band, step);
    }
  }

 private:
  static constexpr int kHeldBands = kHeld ? kBands : 1;
  static constexpr int kHeldSteps = kHeld ? D / 16 : 1;
  BAM_DEVICE void load(std::uint32_t (&fragment)[4], int band, int step) const {
    load_matrices(fragment, at_ + 16 * band * kStride<D> + 16 * step);
  }
  const Bf16* at_ = nullptr;
  std::uint32_t held_[kHeldBands][kHeldSteps][4] = {};
};

// products[band][n] = the warp's rows times rows 8 n to 8 n + 7 of a tile.
template <int D, int kBands, bool kHeld, int kColumns>
BAM_DEVICE void multiply(float (&products)[kBands][kColumns][4], const Left<D, kBands, kHeld>& left, const Bf16* tile,
                         int lane) {
  BAM_UNROLL
  for (int band = 0; band < kBands; ++band) {
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      for (int i = 0; i < 4; ++i) products[band][n][i] = 0.0F;
    }
  }
  const Bf16* const at = tile + (lane % 8 + 8 * (lane / 16)) * kStride<D> + 8 * (lane / 8 % 2);
  BAM_UNROLL
  for (int step = 0; step < D / 16; ++step) {
    std::uint32_t a[kBands][4];
    BAM_UNROLL
    for (int band = 0; band < kBands; ++band) left.get(a[band], band, step);
    BAM_UNROLL
    for (int n = 0; n < kColumns; n += 2) {
      std::uint32_t b[4];
      load_matrices(b, at + 8 * n * kStride<D> + 16 * step);
      BAM_UNROLL
      for (int band = 0; band < kBands; ++band) {
        multiply_16x8x16(products[band][n], a[band], b[0], b[1]);
        multiply_16x8x16(products[band][n + 1], a[band], b[2], b[3]);
      }
    }
  }
}

// sums += weights times the rows of a tile, weights rounded to bf16.
template <int D, int kBands, int kColumns>
BAM_DEVICE void add_product(float (&sums)[kBands][D / 8][4], const float (&weights)[kBands][kColumns][4],
                            const Bf16* tile, int lane) {
  const Bf16* const at = tile + lane % 16 * kStride<D> + 8 * (lane / 16);
  BAM_UNROLL
  for (int step = 0; step < kColumns / 2; ++step) {
    std::uint32_t a[kBands][4];
    BAM_UNROLL
    for (int band = 0; band < kBands; ++band) {
      BAM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float(&pair)[4] = weights[band][2 * step + i / 2];
        a[band][i] = pack_bf16(pair[i % 2 * 2], pair[i % 2 * 2 + 1]);
      }
    }
    BAM_UNROLL
    for (int c = 0; c < D / 8; c += 2) {
      std::uint32_t b[4];
      load_matrices_transposed(b, at + 16 * step * kStride<D> + 8 * c);
      BAM_UNROLL
      for (int band = 0; band < kBands; ++band) {
        multiply_16x8x16(sums[band][c], a[band], b[0], b[1]);
        multiply_16x8x16(sums[band][c + 1], a[band], b[2], b[3]);
      }
    }
  }
}

// The same for a tile with an infinite or NaN value in it, of the pairs alone for which counts(r, row of the tile) is
// true of this thread's row r: a hidden pair must not be multiplied, not even by 0. Slow and rare. What is in registers
// has constant places here as well: an index of run time would send it to memory everywhere.
template <int D, int kBands, int kColumns, typename Counts>
BAM_DEVICE void add_product_where(float (&sums)[kBands][D / 8][4], const float (&weights)[kBands][kColumns][4],
                                  const Bf16* tile, const Lane& at, const Counts& counts) {
  BAM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    BAM_NO_UNROLL
    for (int k = 0; k < 8; ++k) {
      const Bf16* const row = tile + (8 * n + k) * kStride<D> + 2 * at.t;
      BAM_UNROLL
      for (int r = 0; r < 2 * kBands; ++r) {
        const float(&own)[4] = weights[r / 2][n];
        const float weight = shuffle(k % 2 == 0 ? own[r % 2 * 2] : own[r % 2 * 2 + 1], at.lane / 4 * 4 + k / 2);
        if (!counts(r, 8 * n + k)) continue;
        BAM_UNROLL
        for (int c = 0; c < D / 8; ++c) {
          sums[r / 2][c][r % 2 * 2] += weight * widen(row[8 * c]);
          sums[r / 2][c][r % 2 * 2 + 1] += weight * widen(row[8 * c + 1]);
        }
      }
    }
  }
}

// Logits become probabilities relative to the new maximum of their row, and what was summed before shrinks to it. A row
// that has seen no key keeps maximum -inf and subtracts 0. NaN is passed over by the maximum and comes out in the sum,
// which is of this thread's columns alone.
template <int D, int kBands, int kColumns>
BAM_DEVICE void exponentiate(float (&scores)[kBands][kColumns][4], float (&maxima)[2 * kBands],
                             float (&sums)[2 * kBands], float (&out)[kBands][D / 8][4]) {
  BAM_UNROLL
  for (int r = 0; r < 2 * kBands; ++r) {
    float(&own)[kColumns][4] = scores[r / 2];
    const int first = r % 2 * 2;
    float maximum = maxima[r];
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) maximum = fmaxf(maximum, fmaxf(own[n][first], own[n][first + 1]));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 1));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 2));
    const float base = maximum == -INFINITY ? 0.0F : maximum;
    const float shrink = exp2_fast(maxima[r] - base);
    float sum = sums[r] * shrink;
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      BAM_UNROLL
      for (int i = first; i < first + 2; ++i) sum += own[n][i] = exp2_fast(own[n][i] - base);
    }
    maxima[r] = maximum;
    sums[r] = sum;
    BAM_UNROLL
    for (int c = 0; c < D / 8; ++c) {
      BAM_UNROLL
      for (int i = first; i < first + 2; ++i) out[r / 2][c][i] *= shrink;
    }
  }
}

// Starts the copy of the bias of kCount distances from `nearest` on; 0 outside the table, where nobody looks.
template <int kCount>
BAM_DEVICE void fetch_bias(float* to, const AttentionInputs& in, Index head, int nearest) {
  if (in.prior == nullptr) return;
  const float* const from = in.prior + head * in.distances;
  const int distances = static_cast<int>(in.distances < kNoKey ? in.distances : kNoKey);
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += kThreads) {
    const bool known = nearest + i >= 0 && nearest + i < distances;
    copy_async_4(to + i, from + (known ? nearest + i : 0), known);
  }
}

// Of rows [first, first + kRows); those that do not exist count as the last that does. By a whole warp.
template <int kRows>
BAM_DEVICE FirstKeys first_keys_of(const AttentionInputs& in, Index batch, Index first) {
  FirstKeys keys{kNoKey, 0};
  for (int i = static_cast<int>(threadIdx.x) % 32; i < kRows; i += 32) {
    const Index query = first + i < in.queries ? first + i : in.queries - 1;
    const int first_key = in.first_key[batch * in.queries + query];
    keys.lowest = first_key < keys.lowest ? first_key : keys.lowest;
    keys.highest = first_key > keys.highest ? first_key : keys.highest;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const int low = shuffle_xor(keys.lowest, mask);
    const int high = shuffle_xor(keys.highest, mask);
    keys.lowest = low < keys.lowest ? low : keys.lowest;
    keys.highest = high > keys.highest ? high : keys.highest;
  }
  return keys;
}

// Calls body.operator()<D>() for a head dimension that takes_tensor_cores() allows.
template <typename Body>
void for_dim(Index dim, const Body& body) {
  switch (dim) {
    case 16:
      return body.template operator()<16>();
    case 32:
      return body.template operator()<32>();
    case 48:
      return body.template operator()<48>();
    case 64:
      return body.template operator()<64>();
    default:
      return body.template operator()<128>();
  }
}

std::size_t forward_scratch(const AttentionForward& args);
void forward(const AttentionForward& args, void* stream);

// Calls with few queries, which have too few blocks of them to fill a device: the keys are split instead.
constexpr Index kDecodeQueries = 16;
std::size_t decode_scratch(const AttentionForward& args);
void decode(const AttentionForward& args, void* stream);

}  // namespace bam::cuda::tensor
