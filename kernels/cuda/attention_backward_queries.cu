// Gradients on tensor cores, by queries: a block goes over the keys of 64 queries, a warp having sixteen of them, for
// dq and the sums of dl along diagonals. It does so for each of the tiles of its range.
#include "kernels/cuda/attention_backward.h"
#include "kernels/cuda/attention_tiles.h"

namespace bam::cuda::tensor {
namespace {

constexpr int kQueries = 16 * kWarps;
constexpr int kColumns = kTile / 8;
constexpr int kBiases = kQueries + kTile;   // distances between a block and a tile, and one to spare
constexpr int kSteps = kColumns + 1;        // values of r - n in a warp, r the half of its sixteen rows
constexpr int kWarpDiagonals = 16 + kTile;  // of a warp and a tile, and one to spare
constexpr int kDiagonals = kQueries + kTile - 1;

template <int D>
struct Shared {
  alignas(16) Bf16 queries[kQueries * kStride<D>];
  alignas(16) Bf16 douts[kQueries * kStride<D>];
  alignas(16) Bf16 keys[2][kTileValues<D>];
  alignas(16) Bf16 values[2][kTileValues<D>];
  float bias[2][kBiases];
  float lanes[kWarps][kSteps][2][32];  // what each lane has of each diagonal
  float diagonals[2][kWarps][kWarpDiagonals];
  float scale_sums[kWarps];
};

using Pairs = float[1][kColumns][4];

// A thread's rows, g and g + 8 of its warp's sixteen.
struct Rows {
  int first_position, lowest, highest;  // of the warp, as in forward
  int first_key[2];
  RowGradient gradient[2];
  float log_keys[2];
  float scale_sum[2];  // of dl q.k, this thread's columns
  BAM_DEVICE int position(int r, int g) const { return first_position + 8 * r + g; }
  BAM_DEVICE bool is_single(int r, int g) const { return first_key[r] == position(r, g); }
};

BAM_DEVICE Rows describe_rows(const BackwardCall& call, Index batch, Index head, Index first, const Lane& at) {
  const AttentionInputs& in = call.args.in;
  Rows rows;
  const FirstKeys keys = first_keys_of<16>(in, batch, first + 16 * at.warp);
  rows.first_position = static_cast<int>(first) + 16 * at.warp;
  rows.lowest = keys.lowest;
  rows.highest = keys.highest;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const Index query = first + 16 * at.warp + 8 * r + at.g;
    const bool exists = query < in.queries;
    rows.first_key[r] = exists ? in.first_key[batch * in.queries + query] : kNoKey;
    rows.gradient[r] = exists ? call.rows[row_index_of(in, batch, head, query)] : RowGradient{0.0F, 0.0F, 0.0F, 0.0F};
    rows.scale_sum[r] = 0.0F;
    rows.log_keys[r] = exists ? logf(static_cast<float>(static_cast<int>(query) - rows.first_key[r] + 1)) : 0.0F;
  }
  return rows;
}

// Products q.k and dout.v become dl; 0 for hidden pairs and for rows with one visible key. The scale's gradient is
// summed here, where dl is not yet rounded to bf16.
template <bool kMasked>
BAM_DEVICE void differentiate(Pairs& products, const Pairs& dout_v, Rows& rows, const float* bias, bool has_prior,
                              int first_key, const Lane& at) {
  const float* const own_bias = bias + at.g - 2 * at.t;
  BAM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    BAM_UNROLL
    for (int i = 0; i < 4; ++i) {
      const RowGradient& row = rows.gradient[i / 2];
      float x = products[0][n][i] * row.factor;
      if (has_prior) x += own_bias[8 * (i / 2 - n) - i % 2] * row.prior_factor;
      float dl = probability(x, row.lse) * (dout_v[0][n][i] - row.delta);
      if (kMasked) {
        const int key = first_key + 8 * n + 2 * at.t + i % 2;
        const int position = rows.position(i / 2, at.g);
        const bool live = key <= position && key >= rows.first_key[i / 2] && !rows.is_single(i / 2, at.g);
        dl = live ? dl : 0.0F;
        if (live) rows.scale_sum[i / 2] += dl * products[0][n][i];
      } else {
        rows.scale_sum[i / 2] += dl * products[0][n][i];
      }
      products[0][n][i] = dl;
    }
  }
}

// Sums of a warp's sixteen rows by 64 columns along each diagonal, row minus column + 63. A thread's own part of one is
// at most two entries, of steps r - n alike; of a diagonal eight lanes have a part.
BAM_DEVICE void sum_diagonals(float* to, float (&lanes)[kSteps][2][32], const Pairs& dl, const Rows& rows,
                              bool weighted, const Lane& at) {
  const float weights[2] = {weighted ? rows.log_keys[0] : 1.0F, weighted ? rows.log_keys[1] : 1.0F};
  BAM_UNROLL
  for (int step = 0; step < kSteps; ++step) {  // r - n + 7
    BAM_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int n = kColumns - 1 - step;
      float sum = 0.0F;
      if (n >= 0) sum += dl[0][n < 0 ? 0 : n][e] * weights[0];
      if (n < kColumns - 1) sum += dl[0][n + 1][2 + e] * weights[1];
      lanes[step][e][at.lane] = sum;
    }
  }
  sync_warp();
  for (int diagonal = at.lane; diagonal < kWarpDiagonals; diagonal += 32) {
    float sum = 0.0F;
    BAM_UNROLL
    for (int i = 0; i < 8; ++i) {  // column i of a group of eight, in lanes t = i / 2
      const int row = diagonal - (kTile - 1) + i + 8 * (kColumns - 1);
      if (row >= 0 && row / 8 < kSteps) sum += lanes[row / 8][i % 2][row % 8 * 4 + i / 2];
    }
    to[diagonal] = sum;
  }
  sync_warp();
}

// Adds those of all warps to the range's table; `nearest` is the distance of row 0 and column 0 of the block.
BAM_DEVICE void add_diagonals(float* table, Index distances, const float (&diagonals)[kWarps][kWarpDiagonals],
                              Index nearest) {
  static_assert(kDiagonals <= kThreads);
  const int diagonal = static_cast<int>(threadIdx.x);
  const Index distance = nearest + diagonal - (kTile - 1);
  if (diagonal >= kDiagonals || distance < 0 || distance >= distances) return;
  float sum = 0.0F;
  BAM_UNROLL
  for (int warp = 0; warp < kWarps; ++warp) {
    const int own = diagonal - 16 * warp;
    if (own >= 0 && own < kWarpDiagonals) sum += diagonals[warp][own];
  }
  table[distance] += sum;
}

// dq = z / sqrt(d) sum_j dl k
template <int D>
BAM_DEVICE void store_rows(const BackwardCall& call, Index batch, Index head, Index first, const Rows& rows,
                           const float (&dq)[1][D / 8][4], const Lane& at) {
  const AttentionInputs& in = call.args.in;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int row = 16 * at.warp + 8 * r + at.g;
    if (first + row >= in.queries) continue;
    const float z =
        rows.is_single(r, at.g) ? 0.0F : static_cast<float>(static_cast<double>(rows.gradient[r].factor) / kLog2e);
    auto* const to = reinterpret_cast<std::uint32_t*>(static_cast<Bf16*>(call.args.dq) +
                                                      ((batch * in.queries + first + row) * in.heads + head) * D);
    BAM_UNROLL
    for (int c = 0; c < D / 8; ++c) {
      to[4 * c + at.t] = pack_bf16(dq[0][c][2 * r] * z, dq[0][c][2 * r + 1] * z);
    }
  }
}

template <int D>
struct Block {
  const BackwardCall* call;
  Shared<D>* shared;
  Index batch, head, kv_head;
  float* table;  // null to skip
  Lane at;

  BAM_DEVICE void fetch_tile(Index first, int key, int slot) const {
    const AttentionInputs& in = call->args.in;
    fetch_rows<D, kTile>(shared->keys[slot], in.k, batch, in.keys, in.kv_heads, kv_head, key);
    fetch_rows<D, kTile>(shared->values[slot], in.v, batch, in.keys, in.kv_heads, kv_head, key);
    fetch_bias<kBiases>(shared->bias[slot], in, head, static_cast<int>(first) - key - (kTile - 1));
    commit_copies();
  }
};

// One tile of keys against a warp's queries.
template <int D, bool kHeld>
BAM_DEVICE void visit(const Block<D>& block, const Left<D, 1, kHeld>& queries, const Left<D, 1, kHeld>& douts, int key,
                      int slot, bool finite, Rows& rows, float (&dq)[1][D / 8][4]) {
  const Lane& at = block.at;
  Shared<D>& shared = *block.shared;
  const bool has_prior = block.call->args.in.prior != nullptr;
  const float* const bias = shared.bias[slot] + 16 * at.warp + kTile - 1;
  const bool masked = key + kTile - 1 > rows.first_position || key < rows.highest;
  Pairs dl;
  Pairs dout_v;
  multiply(dl, queries, shared.keys[slot], at.lane);
  multiply(dout_v, douts, shared.values[slot], at.lane);
  if (masked) {
    differentiate<true>(dl, dout_v, rows, bias, has_prior, key, at);
  } else {
    differentiate<false>(dl, dout_v, rows, bias, has_prior, key, at);
  }
  if (masked && !finite) {
    add_product_where<D>(dq, dl, shared.keys[slot], at, [&](int r, int column) {
      const int position = rows.position(r, at.g);
      return key + column <= position && key + column >= rows.first_key[r] && rows.first_key[r] != position;
    });
  } else {
    add_product<D>(dq, dl, shared.keys[slot], at.lane);
  }
  if (block.table == nullptr) return;
  sum_diagonals(shared.diagonals[slot][at.warp], shared.lanes[at.warp], dl, rows, block.call->args.in.scale_prior, at);
}

// The tile of queries from `first` on; returns this thread's part of the scale's sum.
template <int D>
BAM_DEVICE float visit_queries(const Block<D>& block, Index first) {
  constexpr bool kHeld = D <= 64;
  const BackwardCall& call = *block.call;
  const AttentionInputs& in = call.args.in;
  const Lane& at = block.at;
  Shared<D>& shared = *block.shared;
  const FirstKeys first_keys = first_keys_of<kQueries>(in, block.batch, first);
  const int begin = first_keys.lowest / kTile * kTile;
  const int end = static_cast<int>(first + kQueries < in.queries ? first + kQueries : in.queries);
  fetch_rows<D, kQueries>(shared.queries, in.q, block.batch, in.queries, in.heads, block.head, first);
  fetch_rows<D, kQueries>(shared.douts, call.args.dout, block.batch, in.queries, in.heads, block.head, first);
  block.fetch_tile(first, begin, 0);
  Rows rows = describe_rows(call, block.batch, block.head, first, at);
  Left<D, 1, kHeld> queries;
  Left<D, 1, kHeld> douts;
  float dq[1][D / 8][4] = {};
  int slot = 0;
  for (int key = begin; key < end; key += kTile, slot ^= 1) {
    wait_copies<0>();
    bool finite = true;
    if (key + kTile - 1 > first || key < first_keys.highest) {
      finite = !any_in_block(copied_not_finite<D, kTile>(shared.keys[slot]));
    } else {
      sync_block();
    }
    if (key + kTile < end) block.fetch_tile(first, key + kTile, slot ^ 1);
    if (block.table != nullptr && key > begin) {
      add_diagonals(block.table, call.distances, shared.diagonals[slot ^ 1], first - key + kTile);
    }
    if (key == begin) {
      queries.take(shared.queries + 16 * at.warp * kStride<D>, at.lane);
      douts.take(shared.douts + 16 * at.warp * kStride<D>, at.lane);
    }
    if (key > rows.first_position + 15 || key + kTile <= rows.lowest) {
      for (int i = at.lane; i < kWarpDiagonals; i += 32) shared.diagonals[slot][at.warp][i] = 0.0F;
    } else {
      visit<D>(block, queries, douts, key, slot, finite, rows, dq);
    }
  }
  sync_block();
  if (block.table != nullptr) {
    const int key = begin + (end - 1 - begin) / kTile * kTile;
    add_diagonals(block.table, call.distances, shared.diagonals[slot ^ 1], first - key);
  }
  store_rows<D>(call, block.batch, block.head, first, rows, dq, at);
  sync_block();  // before the tiles are filled again
  return rows.scale_sum[0] * rows.log_keys[0] + rows.scale_sum[1] * rows.log_keys[1];
}

template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 2) attention_backward_queries_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const Index range = blockIdx.x;
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index sums = (batch * in.heads + head) * call.ranges + range;
  Block<D> block{&call, &shared, batch, head, head / (in.heads / in.kv_heads), nullptr, lane_of_thread()};
  if (call.by_distance != nullptr) {
    block.table = call.by_distance + sums * call.distances;
    for (Index n = threadIdx.x; n < call.distances; n += kThreads) block.table[n] = 0.0F;
    sync_block();
  }
  float scale_sum = 0.0F;
  for (Index k = 0; k * call.ranges * kQueries < in.queries; ++k) {
    const Index first = tile_of_range(range, k, call.ranges) * kQueries;
    if (first < in.queries) scale_sum += visit_queries<D>(block, first);
  }
  if (call.scale_sums == nullptr) return;
  for (int mask = 16; mask > 0; mask /= 2) scale_sum += shuffle_xor(scale_sum, mask);
  if (block.at.lane == 0) shared.scale_sums[block.at.warp] = scale_sum;
  sync_block();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) scale_sum += shared.scale_sums[warp];
  call.scale_sums[sums] = scale_sum / sqrtf(static_cast<float>(D));
}

}  // namespace

void backward_queries(const BackwardCall& call, void* stream) {
  static_assert(kQueries == kBackwardTile);
  const AttentionInputs& in = call.args.in;
  for_dim(in.dim, [&]<int D>() {
    launch(&attention_backward_queries_kernel<D>,
           {static_cast<unsigned>(call.ranges), static_cast<unsigned>(in.heads), static_cast<unsigned>(in.batch)},
           kThreads, sizeof(Shared<D>), stream, call);
  });
}

}  // namespace bam::cuda::tensor
