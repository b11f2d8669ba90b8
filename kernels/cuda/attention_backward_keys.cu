// Gradients on tensor cores, by keys: a block goes over the queries of 64 keys, in all heads that share them, for dk
// and dv. Rows are keys and columns queries here, so that p and dl are the left operands of the sums as they come.
#include "kernels/cuda/attention_backward.h"
#include "kernels/cuda/attention_tiles.h"

namespace bam::cuda::tensor {
namespace {

template <int D>
constexpr int kQueries = D <= 64 ? 64 : 32;  // of a tile: registers hold 2 x 16 x kQueries pairs and 2 x 16 x D sums
template <int D>
constexpr int kColumns = kQueries<D> / 8;
template <int D>
constexpr int kBiases = kTile + kQueries<D>;

template <int D>
struct Shared {
  alignas(16) Bf16 keys[kTileValues<D>];
  alignas(16) Bf16 values[kTileValues<D>];
  alignas(16) Bf16 queries[2][kQueries<D> * kStride<D>];
  alignas(16) Bf16 douts[2][kQueries<D> * kStride<D>];
  RowGradient rows[2][kQueries<D>];
  std::int32_t first_key[2][kQueries<D>];
  float bias[2][kBiases<D>];
};

template <int D>
using Pairs = float[1][kColumns<D>][4];
template <int D>
using Sums = float[1][D / 8][4];

BAM_KERNEL void first_keys_kernel(BackwardCall call) {
  const Index tile = blockIdx.x;
  const Index batch = blockIdx.y;
  const FirstKeys keys = first_keys_of<kTile>(call.args.in, batch, tile * kTile);
  if (threadIdx.x == 0) call.tiles[batch * gridDim.x + tile] = keys;
}

template <int D>
struct Block {
  const BackwardCall* call;
  Shared<D>* shared;
  Index batch, kv_head;
  int first;               // of the keys
  const FirstKeys* tiles;  // of the batch
  int count;               // of tiles of queries
  Lane at;
};

// A tile of queries of a head.
struct Step {
  Index head;
  int tile;
};

// From this tile on, the next that sees any of the block's keys; `count` if there is none.
template <int D>
BAM_DEVICE int next_tile(const Block<D>& block, int tile) {
  for (; tile < block.count; tile += 32) {
    const int own = tile + block.at.lane;
    std::uint32_t votes =
        vote(own < block.count && block.tiles[own * kQueries<D> / kTile].lowest <= block.first + kTile - 1);
    if (votes == 0) continue;
    for (; (votes & 1U) == 0; votes >>= 1) ++tile;
    return tile;
  }
  return block.count;
}

template <int D>
BAM_DEVICE Step next_step(const Block<D>& block, Step step) {
  const AttentionInputs& in = block.call->args.in;
  const Index end = (block.kv_head + 1) * (in.heads / in.kv_heads);
  for (; step.head < end; ++step.head, step.tile = block.first / kQueries<D>) {
    step.tile = next_tile(block, step.tile);
    if (step.tile < block.count) break;
  }
  return step;
}

template <int D>
BAM_DEVICE void fetch_tile(const Block<D>& block, const Step& step, int slot) {
  const BackwardCall& call = *block.call;
  const AttentionInputs& in = call.args.in;
  Shared<D>& shared = *block.shared;
  const Index query = static_cast<Index>(step.tile) * kQueries<D>;
  fetch_rows<D, kQueries<D>>(shared.queries[slot], in.q, block.batch, in.queries, in.heads, step.head, query);
  fetch_rows<D, kQueries<D>>(shared.douts[slot], call.args.dout, block.batch, in.queries, in.heads, step.head, query);
  fetch_bias<kBiases<D>>(shared.bias[slot], in, step.head, static_cast<int>(query) - block.first - (kTile - 1));
  const int row = static_cast<int>(threadIdx.x);
  if (row < kQueries<D>) {
    const bool exists = query + row < in.queries;
    const Index own = exists ? query + row : 0;
    copy_async_16(&shared.rows[slot][row], call.rows + row_index_of(in, block.batch, step.head, own), exists);
    copy_async_4(&shared.first_key[slot][row], in.first_key + block.batch * in.queries + own, exists);
  }
  commit_copies();
}

// What a column knows of its pairs.
struct Column {
  int query, first_key;
  BAM_DEVICE bool is_single() const { return first_key == query; }
  BAM_DEVICE bool sees(int key, int queries) const { return key <= query && key >= first_key && query < queries; }
};

// Products k.q and v.dout become p and dl z log2(e) / sqrt(d); both 0 for hidden pairs.
template <int D, bool kMasked>
BAM_DEVICE void differentiate(Pairs<D>& products, Pairs<D>& dout_v, const Block<D>& block, int query, int slot) {
  const Lane& at = block.at;
  const Shared<D>& shared = *block.shared;
  const AttentionInputs& in = block.call->args.in;
  const bool has_prior = in.prior != nullptr;
  const float* const own_bias = shared.bias[slot] + kTile - 1 - 16 * at.warp - at.g + 2 * at.t;
  BAM_UNROLL
  for (int n = 0; n < kColumns<D>; ++n) {
    BAM_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int column = 8 * n + 2 * at.t + e;
      const RowGradient row = shared.rows[slot][column];
      BAM_UNROLL
      for (int r = 0; r < 2; ++r) {
        float x = products[0][n][2 * r + e] * row.factor;
        if (has_prior) x += own_bias[8 * (n - r) + e] * row.prior_factor;
        float p = probability(x, row.lse);
        float dl = p * (dout_v[0][n][2 * r + e] - row.delta) * row.factor;
        if (kMasked) {
          const Column own{query + column, shared.first_key[slot][column]};
          const bool visible = own.sees(block.first + 16 * at.warp + 8 * r + at.g, static_cast<int>(in.queries));
          p = !visible ? 0.0F : own.is_single() ? 1.0F : p;
          dl = visible && !own.is_single() ? dl : 0.0F;
        }
        products[0][n][2 * r + e] = p;
        dout_v[0][n][2 * r + e] = dl;
      }
    }
  }
}

template <int D, bool kHeld>
BAM_DEVICE void visit(const Block<D>& block, const Left<D, 1, kHeld>& keys, const Left<D, 1, kHeld>& values, int query,
                      int slot, bool masked, bool finite, Sums<D>& dk, Sums<D>& dv) {
  const Lane& at = block.at;
  const Shared<D>& shared = *block.shared;
  Pairs<D> p;
  Pairs<D> dl;
  multiply(p, keys, shared.queries[slot], at.lane);
  multiply(dl, values, shared.douts[slot], at.lane);
  if (masked) {
    differentiate<D, true>(p, dl, block, query, slot);
  } else {
    differentiate<D, false>(p, dl, block, query, slot);
  }
  if (masked && !finite) {
    const int first_key = block.first + 16 * at.warp + at.g;
    const int queries = static_cast<int>(block.call->args.in.queries);
    add_product_where<D>(dv, p, shared.douts[slot], at, [&](int r, int column) {
      return Column{query + column, shared.first_key[slot][column]}.sees(first_key + 8 * r, queries);
    });
    add_product_where<D>(dk, dl, shared.queries[slot], at, [&](int r, int column) {
      const Column own{query + column, shared.first_key[slot][column]};
      return own.sees(first_key + 8 * r, queries) && !own.is_single();
    });
  } else {
    add_product<D>(dv, p, shared.douts[slot], at.lane);
    add_product<D>(dk, dl, shared.queries[slot], at.lane);
  }
}

template <int D>
BAM_DEVICE void store_rows(const Block<D>& block, void* to, const Sums<D>& sums, float factor) {
  const AttentionInputs& in = block.call->args.in;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const Index key = block.first + 16 * block.at.warp + 8 * r + block.at.g;
    if (key >= in.keys) continue;
    auto* const row = reinterpret_cast<std::uint32_t*>(
        static_cast<Bf16*>(to) + ((block.batch * in.keys + key) * in.kv_heads + block.kv_head) * D);
    BAM_UNROLL
    for (int c = 0; c < D / 8; ++c) {
      row[4 * c + block.at.t] = pack_bf16(sums[0][c][2 * r] * factor, sums[0][c][2 * r + 1] * factor);
    }
  }
}

template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 2) attention_backward_keys_kernel(BackwardCall call) {
  constexpr bool kHeld = D <= 48;  // beyond that registers are needed for the sums
  const AttentionInputs& in = call.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const Index group = in.heads / in.kv_heads;
  Block<D> block{};
  block.call = &call;
  block.shared = &shared;
  block.batch = blockIdx.z;
  block.kv_head = blockIdx.y;
  block.first = static_cast<int>(blockIdx.x) * kTile;  // the keys that most queries see first
  block.tiles = call.tiles + block.batch * ceil_div(in.queries, kTile);
  block.count = static_cast<int>(ceil_div(in.queries, kQueries<D>));
  block.at = lane_of_thread();
  fetch_rows<D, kTile>(shared.keys, in.k, block.batch, in.keys, in.kv_heads, block.kv_head, block.first);
  fetch_rows<D, kTile>(shared.values, in.v, block.batch, in.keys, in.kv_heads, block.kv_head, block.first);

  const Index end = (block.kv_head + 1) * group;
  Step step = next_step(block, {block.kv_head * group, block.first / kQueries<D>});
  if (step.head < end) fetch_tile(block, step, 0);
  Left<D, 1, kHeld> keys;
  Left<D, 1, kHeld> values;
  Sums<D> dk = {};
  Sums<D> dv = {};
  bool taken = false;
  for (int slot = 0; step.head < end; slot ^= 1) {
    const int query = step.tile * kQueries<D>;
    const Step next = next_step(block, {step.head, step.tile + 1});
    const bool masked = block.first + kTile - 1 > query || query + kQueries<D> > in.queries ||
                        block.tiles[query / kTile].highest > block.first;
    wait_copies<0>();
    bool finite = true;
    if (masked) {
      const bool odd = copied_not_finite<D, kQueries<D>>(shared.queries[slot]) ||
                       copied_not_finite<D, kQueries<D>>(shared.douts[slot]);
      finite = !any_in_block(odd);
    } else {
      sync_block();
    }
    if (next.head < end) fetch_tile(block, next, slot ^ 1);
    if (!taken) {
      keys.take(shared.keys + 16 * block.at.warp * kStride<D>, block.at.lane);
      values.take(shared.values + 16 * block.at.warp * kStride<D>, block.at.lane);
      taken = true;
    }
    // Keys behind all of these queries; the others of the block may not be.
    if (block.first + 16 * block.at.warp < query + kQueries<D>) {
      visit<D>(block, keys, values, query, slot, masked, finite, dk, dv);
    }
    step = next;
  }
  wait_copies<0>();
  store_rows<D>(block, call.args.dk, dk, static_cast<float>(1.0 / kLog2e));
  store_rows<D>(block, call.args.dv, dv, 1.0F);
}

}  // namespace

void backward_keys(const BackwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  const auto batch = static_cast<unsigned>(in.batch);
  launch(&first_keys_kernel, {static_cast<unsigned>(ceil_div(in.queries, kTile)), batch, 1}, 32, 0, stream, call);
  for_dim(in.dim, [&]<int D>() {
    launch(&attention_backward_keys_kernel<D>,
           {static_cast<unsigned>(ceil_div(in.keys, kTile)), static_cast<unsigned>(in.kv_heads), batch}, kThreads,
           sizeof(Shared<D>), stream, call);
  });
}

}  // namespace bam::cuda::tensor
