// Attention of a few queries over many keys. What it costs is reading keys and values once, so all heads that share
// them are done together: a block has up to sixteen rows, each a query of one of these heads, and a part of the keys.
// Its four warps take sixteen keys each of every tile and keep maxima and sums of their own; those are put together at
// the end, and those of the blocks by a second kernel, in a fixed order.
#include <algorithm>

#include "kernels/cuda/attention_skip.h"

namespace bam::cuda::tensor {
namespace {

constexpr int kRows = 16;
constexpr int kKeys = kTile / kWarps;  // of a warp
constexpr int kColumns = kKeys / 8;
constexpr int kBiasStride = kTile + 8;
constexpr Index kWantedBlocks = 528;  // four for each of the 132 multiprocessors of an H100
constexpr Index kFewestTiles = 4;     // of a split

struct DecodeCall {
  ForwardCall forward;  // blocks of skip.pairs: [T,splits]
  Index splits;
  float* parts;   // [B,H,T,splits,d + 2]: sums of p v, the maximum, the sum of p
  float* maxima;  // [B,H,T]: lower bounds of the largest logit; null where everything is computed
};

template <int D>
struct Shared {
  alignas(16) Bf16 queries[kRows * kStride<D>];
  alignas(16) Bf16 keys[2][kTileValues<D>];
  alignas(16) Bf16 values[2][kTileValues<D>];
  float bias[2][kRows][kBiasStride];
  // Of skipping.
  alignas(16) Bf16 parts[kRows * kStride<2 * D>];  // q+, q-, or for a negative factor q-, q+
  bool negative[kRows];
  float excess[kTile];
};

// What the warps found, in place of the keys.
template <int D>
struct Found {
  float out[kWarps][kRows][D];
  float maximum[kWarps][kRows];
  float sum[kWarps][kRows];
};

// Row r of the block: a query of one of the heads that share a key head; head -1 for none.
struct Place {
  Index head, query;
};
BAM_DEVICE Place place_of(const AttentionInputs& in, Index kv_head, Index row) {
  const Index group = in.heads / in.kv_heads;
  if (row >= group * in.queries) return {-1, 0};
  return {kv_head * group + row / in.queries, row % in.queries};
}

// What a thread knows of its rows, g and g + 8.
struct Rows {
  Row row[2];
  float maximum[2];
  float sum[2];
};

template <int D>
struct Block {
  const AttentionInputs* in;
  Shared<D>* shared;
  Index batch, kv_head, first_row;
  FirstKeys first_keys;
  int first_position;
  Lane at;

  BAM_DEVICE void fetch_queries() const {
    for (int i = static_cast<int>(threadIdx.x); i < kRows * D / 8; i += kThreads) {
      const Place place = place_of(*in, kv_head, first_row + i / (D / 8));
      const bool exists = place.head >= 0;
      const Index at_row = exists ? (batch * in->queries + place.query) * in->heads + place.head : 0;
      copy_async_16(shared->queries + i / (D / 8) * kStride<D> + i % (D / 8) * 8,
                    static_cast<const Bf16*>(in->q) + at_row * D + i % (D / 8) * 8, exists);
    }
  }

  BAM_DEVICE void fetch_tile(int key, int slot) const {
    fetch_rows<D, kTile>(shared->keys[slot], in->k, batch, in->keys, in->kv_heads, kv_head, key);
    fetch_rows<D, kTile>(shared->values[slot], in->v, batch, in->keys, in->kv_heads, kv_head, key);
    for (int i = static_cast<int>(threadIdx.x); in->prior != nullptr && i < kRows * kTile; i += kThreads) {
      const Place place = place_of(*in, kv_head, first_row + i / kTile);
      if (place.head < 0) break;
      const Index distance = first_position + place.query - key - i % kTile;
      const bool known = distance >= 0 && distance < in->distances;
      copy_async_4(&shared->bias[slot][i / kTile][i % kTile],
                   in->prior + place.head * in->distances + (known ? distance : 0), known);
    }
    commit_copies();
  }
};

template <int D>
BAM_DEVICE Block<D> describe_block(const AttentionInputs& in, Shared<D>& shared, unsigned y) {
  Block<D> block{};
  block.in = &in;
  block.shared = &shared;
  block.batch = blockIdx.z;
  block.kv_head = y % static_cast<unsigned>(in.kv_heads);
  block.first_row = static_cast<Index>(y / static_cast<unsigned>(in.kv_heads)) * kRows;
  block.first_keys = first_keys_of<kDecodeQueries>(in, block.batch, 0);
  block.first_position = static_cast<int>(in.keys - in.queries);
  block.at = lane_of_thread();
  return block;
}

template <int D>
BAM_DEVICE Rows describe_rows(const Block<D>& block) {
  Rows rows;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const Place place = place_of(*block.in, block.kv_head, block.first_row + 8 * r + block.at.g);
    rows.row[r] =
        place.head < 0 ? Row{-1, kNoKey, 0.0F, 0.0F} : describe_row(*block.in, block.batch, place.head, place.query);
    rows.maximum[r] = -INFINITY;
    rows.sum[r] = 0.0F;
  }
  return rows;
}

// A warp's sixteen keys of a tile, from `key` on.
template <int D, bool kMasked>
BAM_DEVICE void to_logits(float (&scores)[1][kColumns][4], const Block<D>& block, const Rows& rows, int key, int slot) {
  const bool has_prior = block.in->prior != nullptr;
  BAM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    BAM_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Row& row = rows.row[i / 2];
      const int column = 8 * n + 2 * block.at.t + i % 2;
      float x = scores[0][n][i] * row.factor;
      // Rows that do not exist have no bias, nor an output.
      if (has_prior && row.first_key != kNoKey) {
        const int bias_column = kKeys * block.at.warp + column;
        x += block.shared->bias[slot][8 * (i / 2) + block.at.g][bias_column] * row.prior_factor;
      }
      if (kMasked) x = is_visible(row, key + column) ? x : -INFINITY;
      scores[0][n][i] = x;
    }
  }
}

template <int D, bool kHeld>
BAM_DEVICE void visit(const Block<D>& block, const Left<D, 1, kHeld>& queries, int tile_key, int slot, bool finite,
                      Rows& rows, float (&out)[1][D / 8][4]) {
  const int key = tile_key + kKeys * block.at.warp;
  if (key >= block.in->keys || key + kKeys <= block.first_keys.lowest) return;
  const bool masked = key + kKeys - 1 > block.first_position || key < block.first_keys.highest;
  const int offset = kKeys * block.at.warp * kStride<D>;
  float scores[1][kColumns][4];
  multiply(scores, queries, block.shared->keys[slot] + offset, block.at.lane);
  if (masked) {
    to_logits<D, true>(scores, block, rows, key, slot);
  } else {
    to_logits<D, false>(scores, block, rows, key, slot);
  }
  exponentiate<D>(scores, rows.maximum, rows.sum, out);
  if (masked && !finite) {
    add_product_where<D>(out, scores, block.shared->values[slot] + offset, block.at,
                         [&](int r, int column) { return is_visible(rows.row[r], key + column); });
  } else {
    add_product<D>(out, scores, block.shared->values[slot] + offset, block.at.lane);
  }
}

// The weight of a sum that is relative to `maximum` in one relative to `highest`, which is at least that.
BAM_DEVICE float weight_of(float maximum, float highest) {
  return exp2_fast(maximum - (highest == -INFINITY ? 0.0F : highest));
}

template <int D>
BAM_DEVICE void share(Found<D>& found, const Rows& rows, const float (&out)[1][D / 8][4], const Lane& at) {
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int row = 8 * r + at.g;
    float sum = rows.sum[r];
    sum += shuffle_xor(sum, 1);
    sum += shuffle_xor(sum, 2);
    BAM_UNROLL
    for (int c = 0; c < D / 8; ++c) {
      found.out[at.warp][row][8 * c + 2 * at.t] = out[0][c][2 * r];
      found.out[at.warp][row][8 * c + 2 * at.t + 1] = out[0][c][2 * r + 1];
    }
    if (at.t != 0) continue;
    found.maximum[at.warp][row] = rows.maximum[r];
    found.sum[at.warp][row] = sum;
  }
}

// The block's part of every row: of its warps together.
template <int D>
BAM_DEVICE void store_part(const DecodeCall& call, const Block<D>& block, const Found<D>& found) {
  const AttentionInputs& in = *block.in;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * D; i += kThreads) {
    const int row = i / D;
    const Place place = place_of(in, block.kv_head, block.first_row + row);
    if (place.head < 0) break;
    float highest = found.maximum[0][row];
    for (int warp = 1; warp < kWarps; ++warp) highest = fmaxf(highest, found.maximum[warp][row]);
    float value = 0.0F;
    float sum = 0.0F;
    for (int warp = 0; warp < kWarps; ++warp) {
      const float weight = weight_of(found.maximum[warp][row], highest);
      value += found.out[warp][row][i % D] * weight;
      sum += found.sum[warp][row] * weight;
    }
    float* const to =
        call.parts +
        (((block.batch * in.heads + place.head) * in.queries + place.query) * call.splits + blockIdx.x) * (D + 2);
    to[i % D] = value;
    if (i % D != 0) continue;
    to[D] = highest;
    to[D + 1] = sum;
  }
}

// The tiles of the call, and those that may be left out: all but the first and the last two.
struct Tiles {
  int first, end;
  BAM_DEVICE bool is_in_question(int tile) const { return tile > first && tile < end - 2; }
};
template <int D>
BAM_DEVICE Tiles tiles_of(const Block<D>& block) {
  return {block.first_keys.lowest / kTile, static_cast<int>(ceil_div(block.in->keys, kTile))};
}

// The largest logit of every row among the tiles that are always computed.
template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 2) attention_seed_kernel(DecodeCall call) {
  const AttentionInputs& in = call.forward.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const Block<D> block = describe_block<D>(in, shared, blockIdx.x);
  const Tiles tiles = tiles_of(block);
  block.fetch_queries();
  Rows rows = describe_rows(block);
  Left<D, 1, true> queries;
  const int wanted[3] = {tiles.first, tiles.end - 2 > tiles.first ? tiles.end - 2 : tiles.first, tiles.end - 1};
  BAM_UNROLL
  for (int i = 0; i < 3; ++i) {
    block.fetch_tile(wanted[i] * kTile, 0);
    wait_copies<0>();
    sync_block();
    if (i == 0) queries.take(shared.queries, block.at.lane);
    float scores[1][kColumns][4];
    multiply(scores, queries, shared.keys[0] + kKeys * block.at.warp * kStride<D>, block.at.lane);
    to_logits<D, true>(scores, block, rows, wanted[i] * kTile + kKeys * block.at.warp, 0);
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      BAM_UNROLL
      for (int e = 0; e < 4; ++e) rows.maximum[e / 2] = fmaxf(rows.maximum[e / 2], scores[0][n][e]);
    }
    sync_block();  // before the tile is filled again
  }
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    float maximum = fmaxf(rows.maximum[r], shuffle_xor(rows.maximum[r], 1));
    maximum = fmaxf(maximum, shuffle_xor(maximum, 2));
    if (block.at.t == 0) shared.bias[0][8 * r + block.at.g][block.at.warp] = maximum;
  }
  sync_block();
  const int row = static_cast<int>(threadIdx.x);
  const Place place = place_of(in, block.kv_head, block.first_row + row);
  if (row >= kRows || place.head < 0) return;
  float maximum = shared.bias[0][row][0];
  for (int warp = 1; warp < kWarps; ++warp) maximum = fmaxf(maximum, shared.bias[0][row][warp]);
  call.maxima[(block.batch * in.heads + place.head) * in.queries + place.query] = maximum;
}

// What a thread's rows have to say about tiles: see attention_skip.cu.
struct Limits {
  Index head[2];
  float size[2], threshold[2];
};

template <int D>
BAM_DEVICE Limits find_limits(const DecodeCall& call, const Block<D>& block, const Rows& rows) {
  const Skip& skip = call.forward.skip;
  const AttentionInputs& in = *block.in;
  const float largest_key = largest_key_of(skip, block.batch * in.kv_heads + block.kv_head);
  Limits limits;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    const int row = 8 * r + block.at.g;
    const Place place = place_of(in, block.kv_head, block.first_row + row);
    float size = 0.0F;
    for (int c = block.at.t; c < D; c += 4) size += fabsf(widen(block.shared->queries[row * kStride<D> + c]));
    size += shuffle_xor(size, 1);
    size += shuffle_xor(size, 2);
    if (block.at.t == 0) block.shared->negative[row] = rows.row[r].factor < 0.0F;
    limits.head[r] = place.head;
    limits.size[r] = fabsf(rows.row[r].factor);
    limits.threshold[r] = INFINITY;
    if (place.head < 0) continue;
    const float maximum = call.maxima[(block.batch * in.heads + place.head) * in.queries + place.query];
    const float log2_keys = log2f(static_cast<float>(rows.row[r].position - rows.row[r].first_key + 1));
    const float slack = size * limits.size[r] * largest_key * kSlack<D>;
    limits.threshold[r] = maximum - log2_keys + skip.log2_eps - slack - kLogSlack;
  }
  return limits;
}

// How far the bound of a tile is above the thresholds, at most over a thread's rows; NaN counts as infinitely far.
BAM_DEVICE float excess_of(const Skip& skip, const Rows& rows, const Limits& limits, float product0, float product1,
                           int tile) {
  float most = -INFINITY;
  BAM_UNROLL
  for (int r = 0; r < 2; ++r) {
    if (limits.head[r] < 0) continue;
    const Row& row = rows.row[r];
    const PriorRange prior = prior_range(skip, limits.head[r], row.position, row.position, tile);
    const float bias = row.prior_factor * (row.prior_factor < 0.0F ? prior.low : prior.high);
    const float room = fabsf(bias) * (4.0F * kUnit);
    const float over = (r == 0 ? product0 : product1) * limits.size[r] + (bias + room) - limits.threshold[r];
    most = fmaxf(most, over == over ? over : INFINITY);
  }
  return most;
}

// Bits of the tiles [begin, stop) that the block needs, and the pairs that are left out with the others.
template <int D>
BAM_DEVICE void find_needed(const DecodeCall& call, const Block<D>& block, const Rows& rows, int begin, int stop,
                            std::uint32_t* needed) {
  const Skip& skip = call.forward.skip;
  const AttentionInputs& in = *block.in;
  Shared<D>& shared = *block.shared;
  const Tiles tiles = tiles_of(block);
  Bf16* const bounds = shared.keys[0];  // where no tile is on its way yet
  static_assert(kTileValues<2 * D> <= 2 * kTileValues<D>);
  const Limits limits = find_limits(call, block, rows);
  sync_block();
  split_signs<D>(shared.parts, shared.queries, shared.negative, kRows);
  Left<2 * D, 1, false> parts;
  parts.take(shared.parts, block.at.lane);
  for (int chunk = begin; chunk < stop; chunk += kTile) {
    load_bounds<D>(bounds, skip, block.batch, in.kv_heads, block.kv_head, chunk);
    sync_block();
    float products[1][kColumns][4];
    multiply(products, parts, bounds + kKeys * block.at.warp * kStride<2 * D>, block.at.lane);
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      BAM_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int column = kKeys * block.at.warp + 8 * n + 2 * block.at.t + e;
        float most = -INFINITY;
        if (tiles.is_in_question(chunk + column)) {
          most = excess_of(skip, rows, limits, products[0][n][e], products[0][n][2 + e], chunk + column);
        }
        most = fmaxf(most, shuffle_xor(most, 4));
        most = fmaxf(most, shuffle_xor(most, 8));
        most = fmaxf(most, shuffle_xor(most, 16));
        if (block.at.g == 0) shared.excess[column] = most;
      }
    }
    sync_block();
    if (block.at.warp < kTile / 32) {
      const int tile = chunk + static_cast<int>(threadIdx.x);
      const std::uint32_t unneeded = vote(tiles.is_in_question(tile) && shared.excess[threadIdx.x] < 0.0F);
      if (block.at.lane == 0) needed[(chunk - begin) / 32 + block.at.warp] = ~unneeded;
    }
  }
  sync_block();
  const int row = static_cast<int>(threadIdx.x);
  const Place place = place_of(in, block.kv_head, block.first_row + row);
  if (row >= kRows || place.head < 0) return;
  Index pairs = 0;
  const int first_key = in.first_key[block.batch * in.queries + place.query];
  for (int tile = begin; tile < stop; ++tile) {
    if ((needed[(tile - begin) / 32] >> ((tile - begin) % 32) & 1U) != 0) continue;
    const int hidden = first_key - tile * kTile;
    pairs += hidden <= 0 ? kTile : hidden < kTile ? kTile - hidden : 0;
  }
  skip.pairs[((block.batch * in.heads + place.head) * in.queries + place.query) * call.splits + blockIdx.x] = pairs;
}

// From this tile on, the next before `stop` that the block needs.
BAM_DEVICE int next_needed(const std::uint32_t* needed, int begin, int tile, int stop) {
  while (needed != nullptr && tile < stop) {
    const std::uint32_t word = needed[(tile - begin) / 32] >> ((tile - begin) % 32);
    if ((word & 1U) != 0) break;
    tile = word == 0 ? begin + ((tile - begin) / 32 + 1) * 32 : tile + 1;
  }
  return tile;
}

template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 2) attention_decode_kernel(DecodeCall call) {
  static_assert(sizeof(Found<D>) <= 4 * kTileValues<D> * sizeof(Bf16));
  const AttentionInputs& in = call.forward.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  const Block<D> block = describe_block<D>(in, shared, blockIdx.y);
  const Tiles tiles = tiles_of(block);
  const int per_split = static_cast<int>(ceil_div(tiles.end - tiles.first, call.splits));
  const int begin = tiles.first + per_split * static_cast<int>(blockIdx.x);
  const int stop = begin + per_split < tiles.end ? begin + per_split : tiles.end;

  block.fetch_queries();
  Rows rows = describe_rows(block);
  std::uint32_t* needed = nullptr;
  if (call.maxima != nullptr) {
    needed = reinterpret_cast<std::uint32_t*>(&shared + 1);
    commit_copies();
    wait_copies<0>();
    sync_block();
    find_needed(call, block, rows, begin, stop, needed);
    sync_block();
  }
  int tile = next_needed(needed, begin, begin, stop);
  if (tile < stop) block.fetch_tile(tile * kTile, 0);
  Left<D, 1, true> queries;
  float out[1][D / 8][4] = {};
  bool taken = false;
  for (int slot = 0; tile < stop; slot ^= 1) {
    const int next = next_needed(needed, begin, tile + 1, stop);
    const int key = tile * kTile;
    wait_copies<0>();
    bool finite = true;
    if (key + kTile - 1 > block.first_position || key < block.first_keys.highest) {
      finite = !any_in_block(copied_not_finite<D, kTile>(shared.values[slot]));
    } else {
      sync_block();
    }
    if (next < stop) block.fetch_tile(next * kTile, slot ^ 1);
    if (!taken) queries.take(shared.queries, block.at.lane);
    taken = true;
    visit<D>(block, queries, key, slot, finite, rows, out);
    tile = next;
  }
  wait_copies<0>();
  sync_block();  // before the keys make way
  void* const room = shared.keys;
  Found<D>& found = *static_cast<Found<D>*>(room);
  share<D>(found, rows, out, block.at);
  sync_block();
  store_part<D>(call, block, found);
}

// A warp per row of [B,H,T].
BAM_KERNEL void combine_kernel(DecodeCall call) {
  const AttentionInputs& in = call.forward.args.in;
  const Index row = static_cast<Index>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (row >= in.batch * in.heads * in.queries) return;
  const Index query = row % in.queries;
  const Index head = row / in.queries % in.heads;
  const Index batch = row / in.queries / in.heads;
  const Index width = in.dim + 2;
  const float* const parts = call.parts + row * call.splits * width;
  float highest = -INFINITY;
  for (Index s = 0; s < call.splits; ++s) highest = fmaxf(highest, parts[s * width + in.dim]);
  float sum = 0.0F;
  for (Index s = 0; s < call.splits; ++s) {
    sum += parts[s * width + in.dim + 1] * weight_of(parts[s * width + in.dim], highest);
  }
  float* const out = call.forward.args.out + ((batch * in.queries + query) * in.heads + head) * in.dim;
  for (Index c = threadIdx.x % 32; c < in.dim; c += 32) {
    float value = 0.0F;
    for (Index s = 0; s < call.splits; ++s) {
      value += parts[s * width + c] * weight_of(parts[s * width + in.dim], highest);
    }
    out[c] = value / sum;
  }
  if (threadIdx.x % 32 == 0) call.forward.args.lse[row] = lse_of(highest, sum);
}

// By the shape alone, so that the same call gives the same bits everywhere.
Index splits_of(const AttentionInputs& in) {
  const Index row_tiles = ceil_div(in.heads / in.kv_heads * in.queries, kRows);
  const Index most = std::max<Index>(1, ceil_div(in.keys, kTile) / kFewestTiles);
  return std::clamp<Index>(ceil_div(kWantedBlocks, in.batch * in.kv_heads * row_tiles), 1, most);
}

std::size_t plan(const AttentionForward& args, DecodeCall& call) {
  const AttentionInputs& in = args.in;
  const Index rows = in.batch * in.heads * in.queries;
  call = {};
  call.forward.args = args;
  if (rows == 0) return 0;
  Pieces pieces(args.scratch);
  call.splits = splits_of(in);
  call.parts = pieces.take<float>(rows * call.splits * (in.dim + 2));
  if (plan_bounds(args, call.forward.skip, pieces)) {
    call.maxima = pieces.take<float>(rows);
    call.forward.skip.pairs = pieces.take<Index>(rows * call.splits);
  }
  return pieces.used();
}

}  // namespace

std::size_t decode_scratch(const AttentionForward& args) {
  DecodeCall call;
  return plan(args, call);
}

void decode(const AttentionForward& args, void* stream) {
  const AttentionInputs& in = args.in;
  DecodeCall call;
  plan(args, call);
  const auto batch = static_cast<unsigned>(in.batch);
  const auto heads = static_cast<unsigned>(in.kv_heads * ceil_div(in.heads / in.kv_heads * in.queries, kRows));
  const bool skips = call.maxima != nullptr;
  const Index most_tiles = ceil_div(ceil_div(in.keys, kTile), call.splits);
  const std::size_t words = skips ? static_cast<std::size_t>(ceil_div(most_tiles, kTile)) * (kTile / 32) : 0;
  if (skips) find_extremes(call.forward, stream);
  for_dim(in.dim, [&]<int D>() {
    if (skips) launch(&attention_seed_kernel<D>, {heads, 1, batch}, kThreads, sizeof(Shared<D>), stream, call);
    launch(&attention_decode_kernel<D>, {static_cast<unsigned>(call.splits), heads, batch}, kThreads,
           sizeof(Shared<D>) + words * sizeof(std::uint32_t), stream, call);
  });
  launch(&combine_kernel, {static_cast<unsigned>(ceil_div(in.batch * in.heads * in.queries, kWarps)), 1, 1}, kThreads,
         0, stream, call);
  if (args.skipped != nullptr) store_shares(call.forward, in.queries * call.splits, stream);
}

}  // namespace bam::cuda::tensor
