#include "kernels/cpu/simd/attention_skip.h"

#include <math.h>

namespace bam::cpu::BAM_ISA {
namespace {

constexpr Index kSeeds = 4;  // tiles with the highest bounds that are computed for the sake of m_i

// Room for rounding: of the bound, of the logits it stands for and of m_i, all of them sums of up to 2d products of
// f32, and in the logarithms.
constexpr float kUnit = 0x1p-24f;
constexpr float kLogSlack = 0x1p-10f;

// One panel while it is planned. Logits are times log2 e, as everywhere in these files.
struct Panel {
  const AttentionForward* call;
  const QueryBlock* block;
  const PlanScratch* scratch;
  Index batch, head;
  int index;
  float* signed_queries;                // [2d][kPanel]: the positive part of factor times q, then the negative one
  float* content;                       // [tiles][kPanel]: bounds of the tiles still in question
  std::uint8_t* skips;                  // [tiles]
  alignas(64) float magnitude[kPanel];  // the largest |factor q.k| of any key, by lane
  alignas(64) float slack[kPanel];
  alignas(64) float highest[kPanel];    // m_i
  alignas(64) float threshold[kPanel];  // what the bound has to stay below

  const AttentionInputs& in() const { return call->in; }
  const AttentionSkip& skip() const { return *call->skip; }
  Index kv_head() const { return head / (in().heads / in().kv_heads); }
  Index lane() const { return Index{index} * kPanel; }
};

struct PriorRange {
  float high, low;
};

// Over all distances between a query of the panel and a key of the tile, a little beyond at both ends.
PriorRange prior_range(const Panel& p, Index tile) {
  if (p.skip().prior_high == nullptr) return {0, 0};
  const Index nearest = p.block->first_position[p.index] - (tile * kTile + kTile - 1);
  const Index furthest = p.block->last_position[p.index] - tile * kTile;
  const Index end = furthest / kPriorBlock + 1;
  const float* high = p.skip().prior_high + p.head * p.skip().prior_blocks;
  const float* low = p.skip().prior_low + p.head * p.skip().prior_blocks;
  PriorRange range = {-__builtin_inff(), __builtin_inff()};
  for (Index i = nearest / kPriorBlock; i < end && i < p.skip().prior_blocks; ++i) {
    range.high = high[i] > range.high ? high[i] : range.high;
    range.low = low[i] < range.low ? low[i] : range.low;
  }
  return range;
}

void prepare_queries(Panel& p) {
  const Index dim = p.in().dim;
  const float* queries = p.scratch->queries + p.lane() * dim;
  const float largest_key = p.skip().key_magnitude[p.batch * p.in().kv_heads + p.kv_head()];
  for (int v = 0; v < 2; ++v) {
    const Vec factor = load(p.block->scale + p.lane() + v * kLanes);
    Vec size{};
    for (Index c = 0; c < dim; ++c) {
      const Vec x = load(queries + c * kPanel + v * kLanes) * factor;
      const Vec positive = max(Vec{}, x);  // NaN comes through
      const Vec negative = max(Vec{}, Vec{} - x);
      store(p.signed_queries + c * kPanel + v * kLanes, positive);
      store(p.signed_queries + (dim + c) * kPanel + v * kLanes, negative);
      size += positive + negative;
    }
    const Vec magnitude = size * broadcast(largest_key);
    store(p.magnitude + v * kLanes, magnitude);
    store(p.slack + v * kLanes, magnitude * broadcast(static_cast<float>(4 * dim + 64) * kUnit));
  }
}

// m_i from one tile; keys of the future and of other documents stay out of it.
void score(Panel& p, Index tile) {
  const AttentionInputs& in = p.in();
  const Index ld = padded_stride(in.dim);
  const Index key = tile * kTile;
  const Index left = p.block->last_position[p.index] + 1 - key;
  const Index rows = left < kTile ? left : kTile;
  copy_rows(in, in.k, in.keys, in.kv_heads, p.batch, p.kv_head(), key, rows, p.scratch->keys, ld);
  const float* prior = in.prior == nullptr ? nullptr : in.prior + p.head * in.distances;
  Vec maximum[2] = {load(p.highest), load(p.highest + kLanes)};
  score_tile({in.dim, key, rows, ld, prior, in.distances, p.block, p.index}, p.scratch->queries + p.lane() * in.dim,
             p.scratch->keys, p.scratch->scores, maximum);
  store(p.highest, maximum[0]);
  store(p.highest + kLanes, maximum[1]);
}

void set_threshold(Panel& p) {
  for (Index i = 0; i < kPanel; ++i) {
    const Index lane = p.lane() + i;
    if (lane >= p.block->count) {
      p.threshold[i] = __builtin_inff();  // nobody asks
      continue;
    }
    const auto log2_keys = static_cast<float>(static_cast<double>(p.block->log_keys[lane]) * kLog2e);
    p.threshold[i] = p.highest[i] - log2_keys + p.skip().log2_eps - p.slack[i] - kLogSlack;
  }
}

// How far the bound is above the threshold, at most over the lanes: negative where the tile may be left out. NaN, and
// what comes of infinities, forbids that.
float excess(const Panel& p, const float* content, const PriorRange& prior) {
  const Vec zero{};
  Vec largest = broadcast(-__builtin_inff());
  IVec below = broadcast(-1);
  for (int v = 0; v < 2; ++v) {
    const Vec factor = load(p.block->prior_scale + p.lane() + v * kLanes);
    const Vec bias = factor * select(factor < zero, broadcast(prior.low), broadcast(prior.high));
    const Vec room = max(bias, zero - bias) * broadcast(4 * kUnit);
    const Vec over = load(content + v * kLanes) + (bias + room) - load(p.threshold + v * kLanes);
    below &= IVec(over < zero);
    largest = max(over, largest);
  }
  float most = largest[0];
  for (int i = 1; i < kLanes; ++i) most = largest[i] > most ? largest[i] : most;
  return any(~below) && !(most > 0) ? 0 : most;
}

// The product of bounds and queries of `count` tiles from `tile` on.
void bound_content(const Panel& p, Index tile, Index count) {
  const AttentionInputs& in = p.in();
  const Index row = in.kv_heads * 2 * in.dim;
  const float* bounds =
      p.skip().key_bounds + ((p.batch * p.skip().key_blocks + tile) * in.kv_heads + p.kv_head()) * 2 * in.dim;
  for_row_blocks(count, [&]<int R>(Index first) {
    Vec product[R][2];
    multiply<R, 2>(product, 2 * in.dim, bounds + first * row, row, 1, p.signed_queries, kPanel);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) store(p.content + (tile + first + r) * kPanel + v * kLanes, product[r][v]);
    }
  });
}

// The tiles in question with the highest excess, best first; fewer when there are fewer.
struct Seeds {
  Index tile[kSeeds];
  float excess[kSeeds];
  Index count = 0;

  void offer(Index candidate, float value) {
    if (count == kSeeds && !(value > excess[kSeeds - 1])) return;
    Index at = count < kSeeds ? count++ : kSeeds - 1;
    for (; at > 0 && value > excess[at - 1]; --at) {
      tile[at] = tile[at - 1];
      excess[at] = excess[at - 1];
    }
    tile[at] = candidate;
    excess[at] = value;
  }
};

// Marks tiles [begin, end), all of whose keys lie before all queries of the panel.
void mark(Panel& p, Index begin, Index end) {
  // What no key could do, whatever its direction: for a local head that settles nearly everything.
  Index undecided = begin;
  const auto bound_run = [&](Index stop) {
    if (stop > undecided) bound_content(p, undecided, stop - undecided);
    undecided = stop + 1;
  };
  for (Index tile = begin; tile < end; ++tile) {
    p.skips[tile] = excess(p, p.magnitude, prior_range(p, tile)) < 0 ? 1 : 0;
    if (p.skips[tile] != 0) bound_run(tile);
  }
  bound_run(end);

  Seeds seeds;
  Index needed = 0;
  for (Index tile = begin; tile < end; ++tile) {
    if (p.skips[tile] != 0) continue;
    const float over = excess(p, p.content + tile * kPanel, prior_range(p, tile));
    p.skips[tile] = over < 0 ? 1 : 0;
    if (over < 0) continue;
    seeds.offer(tile, over);
    ++needed;
  }
  if (needed <= 2 * kSeeds) return;
  for (Index i = 0; i < seeds.count; ++i) score(p, seeds.tile[i]);
  set_threshold(p);
  for (Index tile = begin; tile < end; ++tile) {
    if (p.skips[tile] != 0) continue;
    p.skips[tile] = excess(p, p.content + tile * kPanel, prior_range(p, tile)) < 0 ? 1 : 0;
  }
}

Index visible_pairs(const Panel& p, Index tile) {
  const Index key = tile * kTile;
  if (p.block->clear_from[p.index] <= key) {
    const Index lanes = p.block->count - p.lane();
    return kTile * (lanes < kPanel ? lanes : kPanel);
  }
  Index pairs = 0;
  for (Index i = p.lane(); i < p.lane() + kPanel && i < p.block->count; ++i) {
    const Index hidden = p.block->first_key[i] - key;
    pairs += hidden <= 0 ? kTile : (hidden < kTile ? kTile - hidden : 0);
  }
  return pairs;
}

// Returns the visible pairs that are left out.
Index plan_panel(Panel& p) {
  // The tile before the queries and those at the diagonal are always computed, and the first one: beginnings attract
  // attention.
  const Index first = p.block->lowest_first_key[p.index] / kTile;
  const Index diagonal = p.block->first_position[p.index] / kTile;
  const Index near = diagonal > 0 ? diagonal - 1 : 0;
  if (near <= first + 1) return 0;
  prepare_queries(p);
  for (float& each : p.highest) each = -__builtin_inff();
  score(p, first);
  for (Index tile = near; tile <= p.block->last_position[p.index] / kTile; ++tile) score(p, tile);
  set_threshold(p);
  mark(p, first + 1, near);
  Index pairs = 0;
  for (Index tile = first + 1; tile < near; ++tile) pairs += p.skips[tile] != 0 ? visible_pairs(p, tile) : 0;
  return pairs;
}

template <typename T>
bool bound_typed(const T* k, const T* v, Index stride, Index rows, Index dim, float* bounds) {
  bool finite = true;
  for (Index c = 0; c < dim; c += kLanes) {
    const int rest = static_cast<int>(dim - c);
    const auto get = [&](const T* p) { return rest >= kLanes ? load(p) : load_first(p, rest); };
    UVec strange{};
    Vec high = broadcast(-__builtin_inff());
    Vec low = broadcast(__builtin_inff());
    for (Index r = 0; r < rows; ++r) {
      const Vec key = get(k + r * stride + c);
      const Vec value = get(v + r * stride + c);
      strange |= UVec((as_bits(key) & 0x7f800000u) == 0x7f800000u);
      strange |= UVec((as_bits(value) & 0x7f800000u) == 0x7f800000u);
      high = max(high, key);
      low = min(low, key);
    }
    finite = finite && !any(IVec(strange));
    const Vec negative = Vec{} - low;
    if (rest >= kLanes) {
      store(bounds + c, high);
      store(bounds + dim + c, negative);
    } else {
      store_first(bounds + c, high, rest);
      store_first(bounds + dim + c, negative, rest);
    }
  }
  return finite;
}

}  // namespace

Index tile_plan_scratch(Index dim, Index key_blocks) {
  if (key_blocks == 0) return 0;
  const Index bytes = key_blocks * kMaxPanels;
  return 2 * dim * kPanel + key_blocks * kPanel + (bytes + 3) / 4;
}

TilePlan plan_tiles(const AttentionForward& call, Index batch, Index head, const QueryBlock& block,
                    const PlanScratch& scratch) {
  if (call.skip == nullptr) return {nullptr, 0, 0};
  const Index tiles = call.skip->key_blocks;
  Panel panel;
  panel.call = &call;
  panel.block = &block;
  panel.scratch = &scratch;
  panel.batch = batch;
  panel.head = head;
  panel.signed_queries = scratch.memory;
  panel.content = panel.signed_queries + 2 * call.in.dim * kPanel;
  auto* const skips = reinterpret_cast<std::uint8_t*>(panel.content + tiles * kPanel);
  __builtin_memset(skips, 0, static_cast<std::size_t>(block.panels * tiles));
  Index skipped_pairs = 0;
  for (int i = 0; i < block.panels; ++i) {
    panel.index = i;
    panel.skips = skips + i * tiles;
    skipped_pairs += plan_panel(panel);
  }
  return {skips, tiles, skipped_pairs};
}

void attention_key_bounds(const void* k, const void* v, bool half, Index stride, Index rows, Index dim, float* bounds) {
  const bool finite =
      half ? bound_typed(static_cast<const Bf16*>(k), static_cast<const Bf16*>(v), stride, rows, dim, bounds)
           : bound_typed(static_cast<const float*>(k), static_cast<const float*>(v), stride, rows, dim, bounds);
  if (finite) return;
  for (Index c = 0; c < 2 * dim; ++c) bounds[c] = __builtin_inff();
}

}  // namespace bam::cpu::BAM_ISA
