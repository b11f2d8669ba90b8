// Attention forward on tensor cores: a block of four warps holds 64 queries of one head, sixteen a warp, and walks over
// the keys in tiles of 64, the next tile on its way while one is computed. Scores stay in registers: the accumulator of
// Q K^T has the layout of the left operand of P V. Logits are kept times log2(e).
#include "kernels/cuda/device.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

constexpr int kQueries = 64;
constexpr int kKeys = 64;
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kBiases = kQueries + kKeys;  // distances between a block and a tile, and one to spare
constexpr float kLog2e = 1.44269504F;

// A row is 16 bytes longer than its values: eight rows that are read together begin in eight different groups of banks.
template <int D>
struct Tile {
  static constexpr int kStride = D + 8;
  static constexpr int kValues = kKeys * kStride;
};

// Shared memory of a block.
template <int D>
struct Shared {
  Bf16 queries[Tile<D>::kValues];
  Bf16 keys[2][Tile<D>::kValues];
  Bf16 values[2][Tile<D>::kValues];
  Bf16 probabilities[Tile<kKeys>::kValues];  // for the tiles of add_visible_values() alone
  float bias[2][kBiases];
  std::int32_t first_key[kQueries];
};

// What a thread knows of its two rows, g = lane / 4 and g + 8 of its warp's sixteen.
struct Rows {
  Index position[2];
  Index first_key[2];
  float factor[2];        // z log2(e) / sqrt(d)
  float prior_factor[2];  // log2(e), times z for full
  float maximum[2];
  float sum[2];
};

// Starts the copy of rows [first, first + 64) of one head of x [B, length, heads, D]; zeros where there is no row.
template <int D>
BAM_DEVICE void fetch_rows(Bf16* to, const Bf16* x, Index batch, Index length, Index heads, Index head, Index first) {
  constexpr int kChunks = D / 8;  // of 16 bytes
  for (int i = static_cast<int>(threadIdx.x); i < kKeys * kChunks; i += kThreads) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    const bool valid = first + row < length;
    const Index position = valid ? first + row : 0;
    copy_async_16(to + row * Tile<D>::kStride + chunk * 8,
                  x + ((batch * length + position) * heads + head) * D + chunk * 8, valid);
  }
}

// The bias of every distance between the block's queries and the tile's keys; 0 where nobody sees it.
BAM_DEVICE void fetch_bias(float* to, const AttentionForward& a, Index head, Index first_position, Index first_key) {
  if (a.prior == nullptr) return;
  for (int i = static_cast<int>(threadIdx.x); i < kBiases; i += kThreads) {
    const Index distance = first_position - first_key - (kKeys - 1) + i;
    const bool known = distance >= 0 && distance < a.distances;
    to[i] = known ? a.prior[head * a.distances + distance] : 0.0F;
  }
}

template <int D>
BAM_DEVICE void load_queries(std::uint32_t (&fragments)[D / 16][4], const Bf16* queries, int warp, int lane) {
  BAM_UNROLL
  for (int step = 0; step < D / 16; ++step) {
    load_matrices(fragments[step], queries + (16 * warp + lane % 16) * Tile<D>::kStride + 16 * step + 8 * (lane / 16));
  }
}

// scores[n] = the products of the warp's rows with keys 8 n to 8 n + 7.
template <int D>
BAM_DEVICE void multiply_keys(float (&scores)[kKeys / 8][4], const std::uint32_t (&queries)[D / 16][4],
                              const Bf16* keys, int lane) {
  BAM_UNROLL
  for (int n = 0; n < kKeys / 8; n += 2) {
    for (int i = 0; i < 4; ++i) scores[n][i] = scores[n + 1][i] = 0.0F;
    BAM_UNROLL
    for (int step = 0; step < D / 16; ++step) {
      std::uint32_t b[4];
      load_matrices(b, keys + (8 * n + lane % 8 + 8 * (lane / 16)) * Tile<D>::kStride + 16 * step + 8 * (lane / 8 % 2));
      multiply_16x8x16(scores[n], queries[step], b[0], b[1]);
      multiply_16x8x16(scores[n + 1], queries[step], b[2], b[3]);
    }
  }
}

// Element i of an accumulator stands in row i / 2 of the thread's two, column 2 (lane % 4) + i % 2 of its eight.
BAM_DEVICE bool is_visible(const Rows& rows, Index key, int i) {
  return key <= rows.position[i / 2] && key >= rows.first_key[i / 2];
}

// Products become logits; hidden ones -inf, whatever the product was.
template <bool kMasked>
BAM_DEVICE void to_logits(float (&scores)[kKeys / 8][4], const Rows& rows, const float* bias, bool has_prior,
                          Index first_key, int warp, int lane) {
  BAM_UNROLL
  for (int n = 0; n < kKeys / 8; ++n) {
    BAM_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int column = 8 * n + 2 * (lane % 4) + i % 2;
      const int row = 16 * warp + lane / 4 + 8 * (i / 2);
      float x = scores[n][i] * rows.factor[i / 2];
      if (has_prior) x += bias[row - column + kKeys - 1] * rows.prior_factor[i / 2];
      if (kMasked && !is_visible(rows, first_key + column, i)) x = -INFINITY;
      scores[n][i] = x;
    }
  }
}

// Logits become probabilities relative to the new maximum, which shrinks what was summed before by `shrink`. A row that
// has seen no key keeps maximum -inf and subtracts 0.
BAM_DEVICE void exponentiate(float (&scores)[kKeys / 8][4], Rows& rows, float (&shrink)[2]) {
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    float maximum = rows.maximum[r];
    for (int n = 0; n < kKeys / 8; ++n) maximum = fmaxf(maximum, fmaxf(scores[n][2 * r], scores[n][2 * r + 1]));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 1));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 2));
    const float base = maximum == -INFINITY ? 0.0F : maximum;
    shrink[r] = exp2_fast(rows.maximum[r] - base);
    float sum = 0.0F;
    for (int n = 0; n < kKeys / 8; ++n) {
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        scores[n][i] = exp2_fast(scores[n][i] - base);
        sum += scores[n][i];
      }
    }
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    rows.maximum[r] = maximum;
    rows.sum[r] = rows.sum[r] * shrink[r] + sum;
  }
}

template <int D>
BAM_DEVICE void shrink_out(float (&out)[D / 8][4], const float (&shrink)[2]) {
  BAM_UNROLL
  for (int c = 0; c < D / 8; ++c) {
    for (int i = 0; i < 4; ++i) out[c][i] *= shrink[i / 2];
  }
}

template <int D>
BAM_DEVICE void add_values(float (&out)[D / 8][4], const float (&probabilities)[kKeys / 8][4], const Bf16* values,
                           int lane) {
  BAM_UNROLL
  for (int step = 0; step < kKeys / 16; ++step) {
    const float(&p)[4] = probabilities[2 * step];
    const float(&next)[4] = probabilities[2 * step + 1];
    const std::uint32_t a[4] = {pack_bf16(p[0], p[1]), pack_bf16(p[2], p[3]), pack_bf16(next[0], next[1]),
                                pack_bf16(next[2], next[3])};
    BAM_UNROLL
    for (int c = 0; c < D / 8; c += 2) {
      std::uint32_t b[4];
      load_matrices_transposed(b, values + (16 * step + lane % 16) * Tile<D>::kStride + 8 * c + 8 * (lane / 16));
      multiply_16x8x16(out[c], a, b[0], b[1]);
      multiply_16x8x16(out[c + 1], a, b[2], b[3]);
    }
  }
}

BAM_DEVICE float widen(Bf16 x) {
  union {
    std::uint32_t bits;
    float value;
  } both;
  both.bits = static_cast<std::uint32_t>(x) << 16;
  return both.value;
}

// The same for a masked tile with an infinite or NaN value in it: a hidden key must not be multiplied, not even by 0.
template <int D>
BAM_DEVICE void add_visible_values(float (&out)[D / 8][4], const float (&probabilities)[kKeys / 8][4], Bf16* shared,
                                   const Bf16* values, const Rows& rows, Index first_key, int warp, int lane) {
  constexpr int kStride = Tile<kKeys>::kStride;
  for (int n = 0; n < kKeys / 8; ++n) {
    for (int r = 0; r < 2; ++r) {
      const std::uint32_t pair = pack_bf16(probabilities[n][2 * r], probabilities[n][2 * r + 1]);
      Bf16* to = shared + (16 * warp + lane / 4 + 8 * r) * kStride + 8 * n + 2 * (lane % 4);
      to[0] = static_cast<Bf16>(pair & 0xffffU);
      to[1] = static_cast<Bf16>(pair >> 16);
    }
  }
  sync_block();
  for (int c = 0; c < D / 8; ++c) {
    for (int i = 0; i < 4; ++i) {
      const Bf16* p = shared + (16 * warp + lane / 4 + 8 * (i / 2)) * kStride;
      for (int key = 0; key < kKeys; ++key) {
        if (!is_visible(rows, first_key + key, i)) continue;
        out[c][i] += widen(p[key]) * widen(values[key * Tile<D>::kStride + 8 * c + 2 * (lane % 4) + i % 2]);
      }
    }
  }
  sync_block();
}

template <int D>
BAM_DEVICE bool any_not_finite(const Bf16* values) {
  bool found = false;
  for (int i = static_cast<int>(threadIdx.x); i < kKeys * D; i += kThreads) {
    found = found || (values[i / D * Tile<D>::kStride + i % D] & 0x7f80U) == 0x7f80U;
  }
  return any_in_block(found);
}

template <int D>
BAM_DEVICE Rows describe_rows(const AttentionForward& a, Index head, Index first, const std::int32_t* first_keys,
                              int warp, int lane) {
  Rows rows;
  for (int r = 0; r < 2; ++r) {
    const int row = 16 * warp + lane / 4 + 8 * r;
    const Index position = a.keys - a.queries + first + row;
    rows.position[r] = position;
    rows.first_key[r] = first_keys[row];
    const float visible = static_cast<float>(position - rows.first_key[r] + 1);
    const float z = a.ssmax_scale == nullptr ? 1.0F : a.ssmax_scale[head] * logf(visible);
    rows.factor[r] = z * kLog2e / sqrtf(static_cast<float>(D));
    rows.prior_factor[r] = a.scale_prior ? z * kLog2e : kLog2e;
    rows.maximum[r] = -INFINITY;
    rows.sum[r] = 0.0F;
  }
  return rows;
}

template <int D>
BAM_DEVICE void store_rows(const AttentionForward& a, Index batch, Index head, Index first, const Rows& rows,
                           const float (&out)[D / 8][4], int warp, int lane) {
  for (int r = 0; r < 2; ++r) {
    const Index query = first + 16 * warp + lane / 4 + 8 * r;
    if (query >= a.queries) continue;
    float* to = a.out + ((batch * a.queries + query) * a.heads + head) * D;
    const float factor = 1.0F / rows.sum[r];
    for (int c = 0; c < D / 8; ++c) {
      to[8 * c + 2 * (lane % 4)] = out[c][2 * r] * factor;
      to[8 * c + 2 * (lane % 4) + 1] = out[c][2 * r + 1] * factor;
    }
    if (lane % 4 == 0) {
      a.lse[(batch * a.heads + head) * a.queries + query] = rows.maximum[r] / kLog2e + logf(rows.sum[r]);
    }
  }
}

// The first keys of the block's queries; beyond the last query they see themselves alone.
BAM_DEVICE void fetch_first_keys(std::int32_t* to, const AttentionForward& a, Index batch, Index first) {
  const int row = static_cast<int>(threadIdx.x);
  if (row >= kQueries) return;
  const Index query = first + row;
  to[row] = query < a.queries ? a.first_key[batch * a.queries + query]
                              : static_cast<std::int32_t>(a.keys - a.queries + query);
}

template <int D>
BAM_KERNEL void attention_forward_kernel(AttentionForward a) {
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index first = static_cast<Index>(gridDim.x - 1 - blockIdx.x) * kQueries;  // the longest rows first
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index kv_head = head / (a.heads / a.kv_heads);
  const Index first_position = a.keys - a.queries + first;
  const Index end = first_position + kQueries < a.keys ? first_position + kQueries : a.keys;

  fetch_first_keys(shared.first_key, a, batch, first);
  fetch_rows<D>(shared.queries, a.q, batch, a.queries, a.heads, head, first);
  sync_block();
  Index lowest = shared.first_key[0];
  Index highest = lowest;
  for (int i = 1; i < kQueries; ++i) {
    lowest = shared.first_key[i] < lowest ? shared.first_key[i] : lowest;
    highest = shared.first_key[i] > highest ? shared.first_key[i] : highest;
  }
  const Index begin = lowest / kKeys * kKeys;
  const auto fetch_tile = [&](Index key, int slot) {
    fetch_rows<D>(shared.keys[slot], a.k, batch, a.keys, a.kv_heads, kv_head, key);
    fetch_rows<D>(shared.values[slot], a.v, batch, a.keys, a.kv_heads, kv_head, key);
    fetch_bias(shared.bias[slot], a, head, first_position, key);
    commit_copies();
  };
  fetch_tile(begin, 0);

  Rows rows = describe_rows<D>(a, head, first, shared.first_key, warp, lane);
  std::uint32_t queries[D / 16][4];
  float out[D / 8][4] = {};
  int slot = 0;
  for (Index key = begin; key < end; key += kKeys, slot ^= 1) {
    if (key + kKeys < end) {
      fetch_tile(key + kKeys, slot ^ 1);
      wait_copies<1>();
    } else {
      wait_copies<0>();
    }
    sync_block();
    if (key == begin) load_queries<D>(queries, shared.queries, warp, lane);
    const bool masked = key + kKeys - 1 > first_position || key < highest;
    float scores[kKeys / 8][4];
    float shrink[2];
    multiply_keys<D>(scores, queries, shared.keys[slot], lane);
    if (masked) {
      to_logits<true>(scores, rows, shared.bias[slot], a.prior != nullptr, key, warp, lane);
    } else {
      to_logits<false>(scores, rows, shared.bias[slot], a.prior != nullptr, key, warp, lane);
    }
    exponentiate(scores, rows, shrink);
    shrink_out<D>(out, shrink);
    if (masked && any_not_finite<D>(shared.values[slot])) {
      add_visible_values<D>(out, scores, shared.probabilities, shared.values[slot], rows, key, warp, lane);
    } else {
      add_values<D>(out, scores, shared.values[slot], lane);
    }
    sync_block();  // before the slot is filled again
  }
  store_rows<D>(a, batch, head, first, rows, out, warp, lane);
}

template <int D>
void forward(const AttentionForward& args, void* stream) {
  const auto blocks = static_cast<unsigned>((args.queries + kQueries - 1) / kQueries);
  launch(&attention_forward_kernel<D>, {blocks, static_cast<unsigned>(args.heads), static_cast<unsigned>(args.batch)},
         kThreads, sizeof(Shared<D>), stream, args);
}

struct Entry {
  Index dim;
  void (*forward)(const AttentionForward&, void*);
};
constexpr Entry kEntries[] = {
    {16, &forward<16>}, {32, &forward<32>}, {48, &forward<48>}, {64, &forward<64>}, {128, &forward<128>}};

}  // namespace

bool has_attention_for(Index dim) {
  for (const Entry& entry : kEntries) {
    if (entry.dim == dim) return true;
  }
  return false;
}

void attention_forward(const AttentionForward& args, void* stream) {
  if (args.queries == 0 || args.heads == 0 || args.batch == 0) return;
  for (const Entry& entry : kEntries) {
    if (entry.dim == args.dim) return entry.forward(args, stream);
  }
  throw Error("cuda: no attention for heads of " + std::to_string(args.dim) + ", expected 16, 32, 48, 64 or 128");
}

}  // namespace bam::cuda
