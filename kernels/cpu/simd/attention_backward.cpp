#include <math.h>

#include "kernels/cpu/simd/attention_tile.h"

namespace bam::cpu::BAM_ISA {
namespace {

// Row stride of a tile's probabilities and gradients, [kTile][queries]: a margin on both sides lets vectors along a
// diagonal start and end outside the tile; an odd number of cache lines, as in padded_stride.
constexpr Index kMargin = 16;
constexpr Index kTileStride = padded_stride(kAttentionQueries + 2 * kMargin);

struct Scratch {
  float *keys, *values;           // [S][ld], all keys of the task's head
  float *query_rows, *dout_rows;  // [kAttentionQueries][ld]; query rows times z / sqrt(d) once packed
  float *queries, *douts;         // [panels][dim][kPanel]
  float* dq;                      // likewise, before z / sqrt(d)
  float *probabilities, *grads;   // [kTile][kTileStride], data from column kMargin on; grads are dl
};

Scratch carve(float* memory, Index dim, Index keys) {
  const Index ld = padded_stride(dim);
  Scratch s{};
  s.keys = memory;
  s.values = s.keys + keys * ld;
  s.query_rows = s.values + keys * ld;
  s.dout_rows = s.query_rows + kAttentionQueries * ld;
  s.queries = s.dout_rows + kAttentionQueries * ld;
  s.douts = s.queries + kAttentionQueries * dim;
  s.dq = s.douts + kAttentionQueries * dim;
  s.probabilities = s.dq + kAttentionQueries * dim;
  s.grads = s.probabilities + kTile * kTileStride;
  return s;
}

// One block of queries of one head, as lanes.
struct Queries {
  QueryBlock block;
  alignas(64) float lse[kAttentionQueries];                   // times log2(e)
  alignas(64) float delta[kAttentionQueries];                 // sum_c dout out
  alignas(64) float weight[kAttentionQueries + 2 * kMargin];  // of dl along diagonals, from kMargin on: 1 or ln n
  bool finite;                                                // q and dout
};

float dot(const float* x, const float* y, Index n) {
  Vec sum{};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) sum = fma(load(x + i), load(y + i), sum);
  if (i < n) sum = fma(load_first(x + i, static_cast<int>(n - i)), load_first(y + i, static_cast<int>(n - i)), sum);
  return reduce_add(sum);
}

BAM_INLINE IVec single(const TilePanel& t, int v) {  // lanes that see one key only
  const Index lane = t.offset() + v * kLanes;
  return load(t.block->position + lane) == load(t.block->first_key + lane);
}

// probabilities p = exp(l - lse) and gradients dl = p (dp - delta) of rows [begin, begin + count) of one panel; both 0
// for hidden keys.
template <bool kPrior, bool kMasked>
void differentiate(const TilePanel& t, Index begin, Index count, const Queries& q, const float* keys,
                   const float* values, const Scratch& s) {
  const float* queries = s.queries + t.offset() * t.dim;
  const float* douts = s.douts + t.offset() * t.dim;
  for_row_blocks(count, [&]<int R>(Index row) {
    const Index first = begin + row;
    const Index at = first * kTileStride + kMargin + t.offset();
    Vec product[R][2];
    multiply<R, 2>(product, t.dim, keys + first * t.ld, t.ld, 1, queries, kPanel);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        const Vec x = logits<kPrior, kMasked>(t, product[r][v], t.first_key + first + r, v);
        Vec p = exp2_bounded(x - load(q.lse + t.offset() + v * kLanes));
        if (kMasked) {
          const IVec seen = visible(t, t.first_key + first + r, v);
          p = select(seen, select(single(t, v), broadcast(1.0f), p), Vec{});
        }
        store(s.probabilities + at + r * kTileStride + v * kLanes, p);
      }
    }
    multiply<R, 2>(product, t.dim, values + first * t.ld, t.ld, 1, douts, kPanel);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        const Vec p = load(s.probabilities + at + r * kTileStride + v * kLanes);
        Vec dl = p * (product[r][v] - load(q.delta + t.offset() + v * kLanes));
        if (kMasked) {
          const IVec live = visible(t, t.first_key + first + r, v) & ~single(t, v);
          dl = select(live, dl, Vec{});
        }
        store(s.grads + at + r * kTileStride + v * kLanes, dl);
      }
    }
  });
}

// A tile of keys against the panels [first_panel, last_panel) of a block that see any of it.
struct Tile {
  Index first_key, rows, dim, ld;
  int first_panel, last_panel;
  const Queries* q;
  const float *keys, *values;
  float *dk, *dv;
  Index begin() const { return Index{first_panel} * kPanel; }
  Index end() const { return Index{last_panel} * kPanel; }
};

// to[j][c] += sum_i coefficients[j][i] rows[i][c], V vectors of columns from c on. Queries before key j are skipped by
// whole panels: below the diagonal the coefficients are 0.
template <int R, int V>
BAM_INLINE void add_rows(const Tile& t, Index j, const float* coefficients, const float* rows, Index c, float* to) {
  const Index before = t.first_key + j - t.q->block.first_position[0];
  Index i = before > 0 ? before / kPanel * kPanel : 0;
  i = i < t.begin() ? t.begin() : i;
  Vec sum[R][V];
  multiply<R, V>(sum, t.end() - i, coefficients + j * kTileStride + kMargin + i, kTileStride, 1, rows + i * t.ld + c,
                 t.ld);
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      float* at = to + (j + r) * t.ld + c + v * kLanes;
      store(at, load(at) + sum[r][v]);
    }
  }
}

void add_key_sums(const Tile& t, const float* coefficients, const float* rows, float* to) {
  const Index vectors = (t.dim + kLanes - 1) / kLanes;
  for (Index c = 0; c < vectors; c += 2) {
    for_row_blocks(t.rows, [&]<int R>(Index j) {
      if (c + 1 < vectors) {
        add_rows<R, 2>(t, j, coefficients, rows, c * kLanes, to);
      } else {
        add_rows<R, 1>(t, j, coefficients, rows, c * kLanes, to);
      }
    });
  }
}

// dq[c][lane] += sum_j keys[j][c] dl[j][lane]
void add_query_sums(const Tile& t, int panel, Index rows, const Scratch& s) {
  float* dq = s.dq + panel * kPanel * t.dim;
  const float* grads = s.grads + kMargin + panel * kPanel;
  for_row_blocks(t.dim, [&]<int R>(Index c) {
    Vec sum[R][2];
    multiply<R, 2>(sum, rows, t.keys + c, 1, t.ld, grads, kTileStride);
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < 2; ++v) {
        float* at = dq + (c + r) * kPanel + v * kLanes;
        store(at, load(at) + sum[r][v]);
      }
    }
  });
}

// All three sums of a tile that has hidden pairs and an infinite or NaN operand: a pair that is hidden must not be
// multiplied, not even by 0.
void add_visible_pairs(const Tile& t, const Scratch& s) {
  const QueryBlock& block = t.q->block;
  for (Index i = t.begin(); i < t.end(); ++i) {
    float* dq = s.dq + i / kPanel * kPanel * t.dim + i % kPanel;
    for (Index j = 0; j < t.rows; ++j) {
      if (t.first_key + j < block.first_key[i] || t.first_key + j > block.position[i]) continue;
      const bool live = block.position[i] > block.first_key[i];
      const float p = s.probabilities[j * kTileStride + kMargin + i];
      const float dl = s.grads[j * kTileStride + kMargin + i];
      for (Index c = 0; c < t.dim; ++c) {
        t.dv[j * t.ld + c] += p * s.dout_rows[i * t.ld + c];
        if (!live) continue;
        t.dk[j * t.ld + c] += dl * s.query_rows[i * t.ld + c];
        dq[c * kPanel] += dl * t.keys[j * t.ld + c];
      }
    }
  }
}

// by_distance[n] += sum of weight dl over i - j = n. Rows of the tile are kTileStride apart, so the lanes of
// consecutive diagonals stand kTileStride + 1 apart: plain vector additions, no shuffles, and nothing is stored that is
// about to be loaded (adding each row into a sliding buffer waits on its own stores).
template <bool kWeighted>
void add_diagonals(const Tile& t, float* grads, double* by_distance, Index distances) {
  for (Index j = 0; j < t.rows; ++j) {  // what stands beside the tile is from earlier ones
    store(grads + j * kTileStride + kMargin + t.begin() - kLanes, Vec{});
    store(grads + j * kTileStride + kMargin + t.end(), Vec{});
  }
  const Index width = t.end() - t.begin();
  const Index nearest = t.q->block.first_position[0] + t.begin() - t.first_key;  // distance of column 0, row 0
  const float* origin = grads + kMargin + t.begin();
  const float* weights = t.q->weight + kMargin + t.begin();
  for (Index n = 1 - t.rows; n < width; n += kLanes) {  // column minus row of lane 0
    const Index from = n + kLanes - 1 < 0 ? 1 - kLanes - n : 0;
    const Index to = width - n < t.rows ? width - n : t.rows;
    Vec sum[4] = {};
    Index j = from;
    for (; j + 4 <= to; j += 4) {
      for (Index u = 0; u < 4; ++u) {
        const Vec dl = load(origin + (j + u) * (kTileStride + 1) + n);
        sum[u] = kWeighted ? fma(dl, load(weights + j + u + n), sum[u]) : sum[u] + dl;
      }
    }
    for (; j < to; ++j) {
      const Vec dl = load(origin + j * (kTileStride + 1) + n);
      sum[0] = kWeighted ? fma(dl, load(weights + j + n), sum[0]) : sum[0] + dl;
    }
    const Vec total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const Index distance = nearest + n + lane;
      if (distance >= 0 && distance < distances) by_distance[distance] += static_cast<double>(total[lane]);
    }
  }
}

// What one head of the group needs besides the tile.
struct HeadTask {
  const AttentionBackward* call;
  Index batch, head;
  const float* prior;
  double* by_distance;
  double* dssmax_scale;
};

void prepare(const HeadTask& h, Index first, Index count, Queries& q, const Scratch& s) {
  const AttentionInputs& in = h.call->in;
  const Index ld = padded_stride(in.dim);
  describe_queries(in, h.batch, h.head, first, count, q.block);
  q.finite = pack_queries(in, in.q, h.batch, h.head, q.block, s.query_rows, s.queries);
  q.finite &= pack_queries(in, h.call->dout, h.batch, h.head, q.block, s.dout_rows, s.douts);
  const Index lanes = Index{q.block.panels} * kPanel;
  for (Index i = 0; i < lanes; ++i) q.lse[i] = q.delta[i] = 0;
  for (Index i = 0; i < kMargin; ++i) q.weight[i] = q.weight[kMargin + lanes + i] = 0;
  for (Index i = 0; i < lanes; ++i) q.weight[kMargin + i] = in.scale_prior ? q.block.log_keys[i] : 1.0f;
  for (Index i = 0; i < count; ++i) {
    const float* out = h.call->out + ((h.batch * in.queries + first + i) * in.heads + h.head) * in.dim;
    q.delta[i] = dot(s.dout_rows + i * ld, out, in.dim);
    const float lse = h.call->lse[(h.batch * in.heads + h.head) * in.queries + first + i];
    q.lse[i] = static_cast<float>(static_cast<double>(lse) * kLog2e);
    const Vec scale = broadcast(static_cast<float>(static_cast<double>(q.block.scale[i]) / kLog2e));
    for (Index c = 0; c < in.dim; c += kLanes) {
      store(s.query_rows + i * ld + c, load(s.query_rows + i * ld + c) * scale);
    }
  }
  for (Index i = 0; i < lanes * in.dim; ++i) s.dq[i] = 0;
}

void visit(const HeadTask& h, Tile t, bool finite_keys, const Scratch& s) {
  const AttentionInputs& in = h.call->in;
  const QueryBlock& block = t.q->block;
  bool masked = false;
  Index panel_rows[kMaxPanels];
  for (int p = t.first_panel; p < t.last_panel; ++p) {
    const Index left = block.last_position[p] + 1 - t.first_key;
    Index rows = left < t.rows ? left : t.rows;
    if (t.first_key + rows <= block.lowest_first_key[p]) rows = 0;
    panel_rows[p] = rows;
    const TilePanel panel{t.dim, t.first_key, rows, t.ld, h.prior, in.distances, &block, p};
    masked = masked || panel.needs_mask() || rows < t.rows;
    for_visible_parts(panel, [&]<bool kMasked>(Index begin, Index count) {
      h.prior != nullptr ? differentiate<true, kMasked>(panel, begin, count, *t.q, t.keys, t.values, s)
                         : differentiate<false, kMasked>(panel, begin, count, *t.q, t.keys, t.values, s);
    });
    for (Index j = rows; j < t.rows; ++j) {
      for (int v = 0; v < 2; ++v) {
        const Index at = j * kTileStride + kMargin + p * kPanel + v * kLanes;
        store(s.probabilities + at, Vec{});
        store(s.grads + at, Vec{});
      }
    }
  }
  if (masked && !(finite_keys && t.q->finite)) {
    add_visible_pairs(t, s);
  } else {
    add_key_sums(t, s.probabilities, s.dout_rows, t.dv);
    add_key_sums(t, s.grads, s.query_rows, t.dk);
    for (int p = t.first_panel; p < t.last_panel; ++p) add_query_sums(t, p, panel_rows[p], s);
  }
  if (h.by_distance == nullptr) return;
  if (in.scale_prior) {
    add_diagonals<true>(t, s.grads, h.by_distance, in.distances);
  } else {
    add_diagonals<false>(t, s.grads, h.by_distance, in.distances);
  }
}

// dq = z / sqrt(d) sum_j dl k;  dssmax_scale += ln n q.(sum_j dl k) / sqrt(d), as sum_j dl (q.k) = q.(sum_j dl k). The
// part of the bias, in the full form, is left to the sums by distance.
void finish(const HeadTask& h, const Queries& q, const Scratch& s) {
  const AttentionInputs& in = h.call->in;
  const Index ld = padded_stride(in.dim);
  const Vec root = broadcast(static_cast<float>(1.0 / ::sqrt(static_cast<double>(in.dim))));
  const Vec natural = broadcast(static_cast<float>(1.0 / kLog2e));
  for (int p = 0; p < q.block.panels; ++p) {
    const Index lane = p * kPanel;
    float* dq = s.dq + lane * in.dim;
    const float* queries = s.queries + lane * in.dim;
    for (int v = 0; v < 2; ++v) {
      const IVec live = load(q.block.position + lane + v * kLanes) > load(q.block.first_key + lane + v * kLanes);
      const Vec scale = select(live, load(q.block.scale + lane + v * kLanes) * natural, Vec{});
      Vec dot{};
      for (Index c = 0; c < in.dim; ++c) {
        float* at = dq + c * kPanel + v * kLanes;
        dot = fma(load(at), load(queries + c * kPanel + v * kLanes), dot);
        store(at, load(at) * scale);
      }
      const Vec part = select(live, dot * root * load(q.block.log_keys + lane + v * kLanes), Vec{});
      if (h.dssmax_scale != nullptr) {
        for (int i = 0; i < kLanes; ++i) *h.dssmax_scale += static_cast<double>(part[i]);
      }
    }
    transpose(dq, kPanel, in.dim, kPanel, s.query_rows + lane * ld, ld);
  }
  for (Index i = 0; i < q.block.count; ++i) {
    const Index at = ((h.batch * in.queries + q.block.first + i) * in.heads + h.head) * in.dim;
    store_row(in, s.query_rows + i * ld, h.call->dq, at);
  }
}

void backward_block(const HeadTask& h, Index first, Index count, const AttentionSums& sums, bool finite_keys,
                    const Scratch& s) {
  const AttentionInputs& in = h.call->in;
  const Index ld = padded_stride(in.dim);
  Queries q;
  prepare(h, first, count, q, s);
  const QueryBlock& block = q.block;
  const Index end = block.last_position[block.panels - 1] + 1;
  for (Index key = first_tile(block); key < end; key += kTile) {
    Tile t{};
    t.first_key = key;
    t.rows = key + kTile < end ? kTile : end - key;
    t.dim = in.dim;
    t.ld = ld;
    t.first_panel = 0;
    t.last_panel = block.panels;
    while (t.first_panel < t.last_panel && key > block.last_position[t.first_panel]) ++t.first_panel;
    while (t.last_panel > t.first_panel && key + t.rows <= block.lowest_first_key[t.last_panel - 1]) --t.last_panel;
    if (t.first_panel == t.last_panel) continue;
    t.q = &q;
    t.keys = s.keys + key * ld;
    t.values = s.values + key * ld;
    t.dk = sums.dk + key * ld;
    t.dv = sums.dv + key * ld;
    visit(h, t, finite_keys, s);
  }
  finish(h, q, s);
}

}  // namespace

void attention_store_keys(const AttentionInputs& in, Index batch, Index kv_head, Index first, Index count,
                          const float* parts, Index part_stride, Index part_count, void* to, float* row) {
  const Index ld = padded_stride(in.dim);
  for (Index j = first; j < first + count; ++j) {
    const float* from = parts + j * ld;
    for (Index c = 0; c < in.dim; c += kLanes) {
      Vec sum = load(from + c);
      for (Index part = 1; part < part_count; ++part) sum += load(from + part * part_stride + c);
      store(row + c, sum);
    }
    store_row(in, row, to, ((batch * in.keys + j) * in.kv_heads + kv_head) * in.dim);
  }
}

Index attention_backward_scratch(Index dim, Index keys) {
  return 2 * (keys + kAttentionQueries) * padded_stride(dim) + 3 * kAttentionQueries * dim + 2 * kTile * kTileStride;
}

void attention_backward(const AttentionBackward& call, Index batch, Index kv_head, Index first, Index count,
                        const AttentionSums& sums, float* scratch) {
  const AttentionInputs& in = call.in;
  const Index ld = padded_stride(in.dim);
  const Index group = in.heads / in.kv_heads;
  const Scratch s = carve(scratch, in.dim, in.keys);
  const Index keys = in.keys - in.queries + first + count;
  bool finite = copy_rows(in, in.k, in.keys, in.kv_heads, batch, kv_head, 0, keys, s.keys, ld);
  finite &= copy_rows(in, in.v, in.keys, in.kv_heads, batch, kv_head, 0, keys, s.values, ld);
  for (Index g = 0; g < group; ++g) {
    HeadTask h{};
    h.call = &call;
    h.batch = batch;
    h.head = kv_head * group + g;
    h.prior = in.prior == nullptr ? nullptr : in.prior + h.head * in.distances;
    h.by_distance = sums.by_distance == nullptr ? nullptr : sums.by_distance + g * in.distances;
    h.dssmax_scale = sums.dssmax_scale == nullptr ? nullptr : sums.dssmax_scale + g;
    for (Index done = 0; done < count; done += kAttentionQueries) {
      const Index left = count - done;
      backward_block(h, first + done, left < kAttentionQueries ? left : kAttentionQueries, sums, finite, s);
    }
  }
}

}  // namespace bam::cpu::BAM_ISA
