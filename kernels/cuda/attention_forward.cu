// Attention forward on tensor cores: a block holds the queries of its four warps and walks over the keys in tiles of
// 64, the next tile on its way while one is computed, with one barrier a tile.
#include "kernels/cuda/attention_forward.h"
#include "kernels/cuda/attention_skip.h"

namespace bam::cuda::tensor {
namespace {

template <int D>
struct Shared {
  alignas(16) Bf16 queries[kRows<D> * kStride<D>];
  alignas(16) Bf16 keys[2][kTileValues<D>];
  alignas(16) Bf16 values[2][kTileValues<D>];
  float bias[2][kBiases<D>];
  std::int32_t first_key[kRows<D>];
};

// One tile, by one warp.
template <int D, bool kHeld>
BAM_DEVICE void visit(const Left<D, kBands<D>, kHeld>& queries, const Bf16* keys, const Bf16* values, const float* bias,
                      bool has_prior, const std::int32_t* first_keys, bool finite, int key, WarpRows<D>& rows,
                      Out<D>& out, const Lane& at) {
  const bool masked = key + kTile - 1 > rows.first_position || key < rows.highest;
  Scores<D> scores;
  multiply(scores, queries, keys, at.lane);
  if (masked) {
    to_logits<D, true>(scores, rows, bias, has_prior, first_keys, key, at);
  } else {
    to_logits<D, false>(scores, rows, bias, has_prior, first_keys, key, at);
  }
  exponentiate<D>(scores, rows.maximum, rows.sum, out);
  if (masked && !finite) {
    add_product_where<D>(out, scores, values, at, [&](int r, int column) {
      return key + column <= rows.first_position + 8 * r + at.g && key + column >= first_keys[8 * r + at.g];
    });
  } else {
    add_product<D>(out, scores, values, at.lane);
  }
}

template <int D>
BAM_DEVICE void store_rows(const AttentionForward& args, Index batch, Index head, Index first, const WarpRows<D>& rows,
                           const Out<D>& out, const Lane& at) {
  const AttentionInputs& in = args.in;
  BAM_UNROLL
  for (int r = 0; r < 2 * kBands<D>; ++r) {
    float sum = rows.sum[r];
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    const Index query = first + 16 * kBands<D> * at.warp + 8 * r + at.g;
    if (query >= in.queries) continue;
    float* const to = args.out + ((batch * in.queries + query) * in.heads + head) * D + 2 * at.t;
    const float factor = 1.0F / sum;
    BAM_UNROLL
    for (int c = 0; c < D / 8; ++c) {
      to[8 * c] = out[r / 2][c][r % 2 * 2] * factor;
      to[8 * c + 1] = out[r / 2][c][r % 2 * 2 + 1] * factor;
    }
    if (at.t == 0) args.lse[(batch * in.heads + head) * in.queries + query] = lse_of(rows.maximum[r], sum);
  }
}

template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 1) attention_forward_kernel(ForwardCall call) {
  constexpr bool kHeld = D <= 64;
  const AttentionInputs& in = call.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const Lane at = lane_of_thread();
  const Index first = static_cast<Index>(gridDim.x - 1 - blockIdx.x) * kRows<D>;  // the longest rows first
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index kv_head = head / (in.heads / in.kv_heads);
  const int first_position = static_cast<int>(in.keys - in.queries + first);
  const Index last = in.keys - in.queries + first + kRows<D>;
  const int end = static_cast<int>(last < in.keys ? last : in.keys);
  const bool has_prior = in.prior != nullptr;
  const Index block = (batch * in.heads + head) * gridDim.x + gridDim.x - 1 - blockIdx.x;
  const std::uint32_t* const needed =
      call.skip.needed == nullptr ? nullptr : call.skip.needed + block * call.skip.words;

  const FirstKeys first_keys = first_keys_of<kRows<D>>(in, batch, first);
  const int begin = first_keys.lowest / kTile * kTile;
  const auto fetch_tile = [&](int key, int slot) {
    fetch_rows<D, kTile>(shared.keys[slot], in.k, batch, in.keys, in.kv_heads, kv_head, key);
    fetch_rows<D, kTile>(shared.values[slot], in.v, batch, in.keys, in.kv_heads, kv_head, key);
    fetch_bias<kBiases<D>>(shared.bias[slot], in, head, first_position - key - (kTile - 1));
    commit_copies();
  };
  fetch_rows<D, kRows<D>>(shared.queries, in.q, batch, in.queries, in.heads, head, first);
  fetch_tile(begin, 0);
  copy_first_keys<D>(shared.first_key, in, batch, first);

  WarpRows<D> rows = describe_rows<D>(in, batch, head, first, at);
  const int own_row = 16 * kBands<D> * at.warp;
  Left<D, kBands<D>, kHeld> queries;
  Out<D> out = {};
  int slot = 0;
  for (int key = begin; key < end; slot ^= 1) {
    const int next = next_needed(needed, key + kTile, end);
    wait_copies<0>();
    bool finite = true;
    if (key + kTile - 1 > first_position || key < first_keys.highest) {
      finite = !any_in_block(copied_not_finite<D, kTile>(shared.values[slot]));
    } else {
      sync_block();
    }
    if (next < end) fetch_tile(next, slot ^ 1);
    if (key == begin) queries.take(shared.queries + own_row * kStride<D>, at.lane);
    if (key < rows.first_position + 16 * kBands<D> && key + kTile > rows.lowest) {
      visit<D>(queries, shared.keys[slot], shared.values[slot], shared.bias[slot] + own_row + kTile - 1, has_prior,
               shared.first_key + own_row, finite, key, rows, out, at);
    }
    key = next;
  }
  store_rows<D>(call.args, batch, head, first, rows, out, at);
}

}  // namespace

void forward(const AttentionForward& args, void* stream) {
  const AttentionInputs& in = args.in;
  ForwardCall call;
  if (plan_skip(args, rows_of_block(args.in.dim), call) > 0) find_needed(call, stream);
  for_dim(in.dim, [&]<int D>() {
    launch(&attention_forward_kernel<D>,
           {static_cast<unsigned>(ceil_div(in.queries, kRows<D>)), static_cast<unsigned>(in.heads),
            static_cast<unsigned>(in.batch)},
           kThreads, sizeof(Shared<D>), stream, call);
  });
  if (args.skipped != nullptr) store_shares(call, ceil_div(in.queries, rows_of_block(in.dim)), stream);
}

std::size_t forward_scratch(const AttentionForward& args) {
  ForwardCall call;
  return plan_skip(args, rows_of_block(args.in.dim), call);
}

}  // namespace bam::cuda::tensor
