
#include <math.h>

#include "kernels/cpu/simd/attention_skip.h"

namespace bam::cpu::BAM_ISA {
namespace {

// Online softmax of one block of queries: by lane the maximum so far (times log2 e), the sum and the factor by which
// this tile shrinks what came before.
struct Softmax {
  alignas(64) float maximum[kAttentionQueries];
  alignas(64) float sum[kAttentionQueries];
  alignas(64) float shrink[kAttentionQueries];
};

struct Scratch {
  float *keys, *values;  // [kTile, ld]
  float* rows;           // [kAttentionQueries, ld]
  float* queries;        // [panels][dim][kPanel]
  float* out;            // likewise
  float* scores;         // [kTile][kPanel]
  float* skip;           // of plan_tiles()
};

Scratch carve(float* memory, Index dim) {
  const Index ld = padded_stride(dim);
  Scratch s{};
  s.keys = memory;
  s.values = s.keys + kTile * ld;
  s.rows = s.values + kTile * ld;
  s.queries = s.rows + kAttentionQueries * ld;
  s.out = s.queries + kAttentionQueries * dim;
  s.scores = s.out + kAttentionQueries * dim;
  s.skip = s.scores + kTile * kPanel;
  return s;
}

// scores[key][lane] of rows [begin, begin + count), and the larger of maximum and every score of a lane.
template <bool kPrior, bool kMasked>
void score_rows(const TilePanel& t, Index begin, Index count, const float* queries, const float* keys, float* scores,
                Vec (&maximum)[2]) {
  for_row_blocks(count, [&]<int R>(Index row) {
    const Index first = begin + row;
    Vec product[R][2];
    multiply<R, 2>(product, t.dim, keys + first * t.ld, t.ld, 1, queries, kPanel);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        const Vec x = logits<kPrior, kMasked>(t, product[r][v], t.first_key + first + r, v);
        maximum[v] = max(maximum[v], x);
        store(scores + (first + r) * kPanel + v * kLanes, x);
      }
    }
  });
}

// scores become probabilities relative to the new maximum. A lane that has seen no key yet keeps maximum -inf and
// subtracts 0: its scores are -inf, its probabilities 0.
void exponentiate(const TilePanel& t, const Vec (&maximum)[2], float* scores, Softmax& softmax) {
  for (int v = 0; v < 2; ++v) {
    const Index lane = t.offset() + v * kLanes;
    const Vec base = select(maximum[v] == broadcast(-__builtin_inff()), Vec{}, maximum[v]);
    const Vec shrink = exp2_bounded(load(softmax.maximum + lane) - base);
    Vec sum{};
    for (Index j = 0; j < t.rows; ++j) {
      float* at = scores + j * kPanel + v * kLanes;
      const Vec p = exp2_bounded(load(at) - base);
      sum += p;
      store(at, p);
    }
    store(softmax.maximum + lane, maximum[v]);
    store(softmax.shrink + lane, shrink);
    store(softmax.sum + lane, fma(load(softmax.sum + lane), shrink, sum));
  }
}

// out[c][lane] = out shrunk + sum_j values[j][c] probabilities[j][lane]
void add_values(const TilePanel& t, const float* values, const float* probabilities, const Softmax& softmax,
                float* out) {
  const Vec shrink[2] = {load(softmax.shrink + t.offset()), load(softmax.shrink + t.offset() + kLanes)};
  for_row_blocks(t.dim, [&]<int R>(Index first) {
    Vec sum[R][2];
    multiply<R, 2>(sum, t.rows, values + first, 1, t.ld, probabilities, kPanel);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        float* at = out + (first + r) * kPanel + v * kLanes;
        store(at, fma(load(at), shrink[v], sum[r][v]));
      }
    }
  });
}

// The same for a masked tile with an infinite or NaN value in it: a hidden key must not be multiplied, not even by 0.
void add_visible_values(const TilePanel& t, const float* values, const float* probabilities, const Softmax& softmax,
                        float* out) {
  for (Index lane = 0; lane < kPanel; ++lane) {
    const std::int32_t first = t.block->first_key[t.offset() + lane];
    const std::int32_t last = t.block->position[t.offset() + lane];
    for (Index c = 0; c < t.dim; ++c) {
      float sum = out[c * kPanel + lane] * softmax.shrink[t.offset() + lane];
      for (Index j = 0; j < t.rows; ++j) {
        if (t.first_key + j < first || t.first_key + j > last) continue;
        sum += values[j * t.ld + c] * probabilities[j * kPanel + lane];
      }
      out[c * kPanel + lane] = sum;
    }
  }
}

void visit(const TilePanel& t, const Scratch& s, bool finite_values, Softmax& softmax) {
  float* out = s.out + t.offset() * t.dim;
  Vec maximum[2] = {load(softmax.maximum + t.offset()), load(softmax.maximum + t.offset() + kLanes)};
  score_tile(t, s.queries + t.offset() * t.dim, s.keys, s.scores, maximum);
  exponentiate(t, maximum, s.scores, softmax);
  if (!finite_values && t.needs_mask()) {
    add_visible_values(t, s.values, s.scores, softmax, out);
  } else {
    add_values(t, s.values, s.scores, softmax, out);
  }
}

// out[query][c] = out[c][lane] / sum of a panel.
void store_out(const AttentionForward& call, Index batch, Index head, const QueryBlock& block, int panel,
               const Softmax& softmax, const Scratch& s) {
  const AttentionInputs& in = call.in;
  const Index lane = panel * kPanel;
  const Index row = in.heads * in.dim;
  float* out = s.out + lane * in.dim;
  const Vec one = broadcast(1.0f);
  const Vec factor[2] = {one / load(softmax.sum + lane), one / load(softmax.sum + lane + kLanes)};
  for (Index c = 0; c < in.dim; ++c) {
    for (int v = 0; v < 2; ++v) {
      float* at = out + c * kPanel + v * kLanes;
      store(at, load(at) * factor[v]);
    }
  }
  float* to = call.out + ((batch * in.queries + block.first + lane) * in.heads + head) * in.dim;
  if (lane + kPanel <= block.count) {
    transpose(out, kPanel, in.dim, kPanel, to, row);
    return;
  }
  const Index ld = padded_stride(in.dim);
  transpose(out, kPanel, in.dim, kPanel, s.rows, ld);
  for (Index i = 0; i < block.count - lane; ++i) {
    __builtin_memcpy(to + i * row, s.rows + i * ld, static_cast<std::size_t>(in.dim) * sizeof(float));
  }
}

void store_lse(const AttentionForward& call, Index batch, Index head, const QueryBlock& block, const Softmax& softmax) {
  constexpr double kLn2 = 0.6931471805599453;
  float* lse = call.lse + (batch * call.in.heads + head) * call.in.queries + block.first;
  for (Index i = 0; i < block.count; ++i) {
    const auto sum = static_cast<double>(softmax.sum[i]);
    const double ln_sum = sum == 0 ? __builtin_nan("") : ::log(sum);  // every logit -inf: undefined, as out is, 0 / 0
    lse[i] = static_cast<float>(static_cast<double>(softmax.maximum[i]) * kLn2 + ln_sum);
  }
}

// One tile of keys and values against the panels that need it.
void visit_tile(const AttentionForward& call, Index batch, Index head, const QueryBlock& block, Index key, Index rows,
                const TilePlan& plan, const Scratch& s, Softmax& softmax) {
  const AttentionInputs& in = call.in;
  if (!plan.any_needs(block, key)) return;
  const Index ld = padded_stride(in.dim);
  const Index kv_head = head / (in.heads / in.kv_heads);
  const float* prior = in.prior == nullptr ? nullptr : in.prior + head * in.distances;
  copy_rows(in, in.k, in.keys, in.kv_heads, batch, kv_head, key, rows, s.keys, ld);
  const bool finite = copy_rows(in, in.v, in.keys, in.kv_heads, batch, kv_head, key, rows, s.values, ld);
  for (int p = 0; p < block.panels; ++p) {
    if (!plan.needs(block, p, key)) continue;
    const Index left = block.last_position[p] + 1 - key;
    visit({in.dim, key, left < rows ? left : rows, ld, prior, in.distances, &block, p}, s, finite, softmax);
  }
}

}  // namespace

void score_tile(const TilePanel& t, const float* queries, const float* keys, float* scores, Vec (&maximum)[2]) {
  for_visible_parts(t, [&]<bool kMasked>(Index begin, Index count) {
    t.prior != nullptr ? score_rows<true, kMasked>(t, begin, count, queries, keys, scores, maximum)
                       : score_rows<false, kMasked>(t, begin, count, queries, keys, scores, maximum);
  });
}

Index attention_forward_scratch(Index dim, Index key_blocks) {
  return (2 * kTile + kAttentionQueries) * padded_stride(dim) + 2 * kAttentionQueries * dim + kTile * kPanel +
         tile_plan_scratch(dim, key_blocks);
}

Index attention_forward(const AttentionForward& call, Index batch, Index head, Index first, Index count,
                        float* scratch) {
  const AttentionInputs& in = call.in;
  const Scratch s = carve(scratch, in.dim);
  QueryBlock block;
  describe_queries(in, batch, head, first, count, block);
  pack_queries(in, in.q, batch, head, block, s.rows, s.queries);
  Softmax softmax;
  const Index lanes = Index{block.panels} * kPanel;
  for (Index i = 0; i < lanes; ++i) softmax.maximum[i] = -__builtin_inff();
  for (Index i = 0; i < lanes; ++i) softmax.sum[i] = 0;
  for (Index i = 0; i < lanes * in.dim; ++i) s.out[i] = 0;
  const TilePlan plan = plan_tiles(call, batch, head, block, {s.keys, s.queries, s.scores, s.skip});
  // Tiles stand at fixed places whatever the queries are, so that a query's sums are formed in the same order alone, in
  // a chunk or in a whole sequence.
  const Index end = block.last_position[block.panels - 1] + 1;
  for (Index key = first_tile(block); key < end; key += kTile) {
    visit_tile(call, batch, head, block, key, key + kTile < end ? kTile : end - key, plan, s, softmax);
  }
  for (int p = 0; p < block.panels; ++p) store_out(call, batch, head, block, p, softmax, s);
  store_lse(call, batch, head, block, softmax);
  return plan.skipped_pairs;
}

}  // namespace bam::cpu::BAM_ISA
