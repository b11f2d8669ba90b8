// A few queries over many keys, as in generation: lanes hold keys, where elsewhere they hold queries, of which one
// would fill one lane of a panel. A task is a range of keys; the parts are joined by combine().

#include <math.h>

#include "kernels/cpu/simd/attention_skip.h"

namespace bam::cpu::BAM_ISA {
namespace {

// What attention_decode leaves of one query and one range, in floats: the largest logit (times log2 e), the sum of
// exponentials relative to it, and from kPartOut on the values summed likewise.
constexpr Index kPartMaximum = 0;
constexpr Index kPartSum = 1;
constexpr Index kPartOut = 16;

float exp2_of(float x) {
  return exp2_bounded(broadcast(x))[0];
}

// -inf where no key was seen: subtract 0, and every exponential is 0.
float finite_base(float maximum) {
  return maximum == -__builtin_inff() ? 0 : maximum;
}

// products[j] = q . keys[j], j in [0, rows rounded up to kLanes): what is beyond the rows is of no use.
void multiply_keys(const float* q, const float* keys, Index ld, Index rows, Index dim, float* products) {
  alignas(64) float partial[kLanes * kLanes];
  alignas(64) float turned[kLanes * kLanes];
  for (Index j = 0; j < rows; j += kLanes) {
#pragma GCC unroll 16
    for (Index r = 0; r < kLanes; ++r) {
      Vec sum{};
      for (Index c = 0; c < dim; c += kLanes) sum = fma(load(q + c), load(keys + (j + r) * ld + c), sum);
      store(partial + r * kLanes, sum);
    }
    transpose(partial, kLanes, kLanes, kLanes, turned, kLanes);
    Vec sum{};
#pragma GCC unroll 16
    for (int r = 0; r < kLanes; ++r) sum += load(turned + r * kLanes);
    store(products + j, sum);
  }
}

// One query of one head, as QueryBlock describes it.
struct DecodeQuery {
  float scale, prior_scale;
  std::int32_t position, first_key;
};

// The rows [begin, end) of a tile, whose first key is `key`, that a query sees.
struct Visible {
  Index key, begin, end;
};

// products become logits, -inf for what is not seen.
void finish_logits(const DecodeQuery& query, const Visible& rows, const float* prior, float* products) {
  for (Index j = rows.begin; j < rows.end; ++j) {
    const float x = products[j] * query.scale;
    products[j] = prior == nullptr ? x : ::fmaf(prior[query.position - rows.key - j], query.prior_scale, x);
  }
  for (Index j = 0; j < rows.begin; ++j) products[j] = -__builtin_inff();
  for (Index j = rows.end; j < kTile; ++j) products[j] = -__builtin_inff();
}

// The larger of the two for every logit; NaN stays.
float largest_of(const float* logits, float maximum) {
  Vec most = broadcast(maximum);
  IVec strange{};
  for (Index j = 0; j < kTile; j += kLanes) {
    const Vec x = load(logits + j);
    strange |= IVec(x != x);
    most = max(most, x);
  }
  if (any(strange)) return __builtin_nanf("");
  for (int i = 0; i < kLanes; ++i) maximum = most[i] > maximum ? most[i] : maximum;
  return maximum;
}

// out[c] = shrink out[c] + sum over the rows of p[j] values[j][c]; four chains hide the latency of an FMA.
void add_rows(const float* p, const float* values, Index ld, const Visible& rows, Index dim, float shrink, float* out) {
  for (Index c = 0; c < dim; c += kLanes) {
    Vec sum[4] = {};
    Index j = rows.begin;
    for (; j + 4 <= rows.end; j += 4) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum[i] = fma(broadcast(p[j + i]), load(values + (j + i) * ld + c), sum[i]);
    }
    for (; j < rows.end; ++j) sum[0] = fma(broadcast(p[j]), load(values + j * ld + c), sum[0]);
    store(out + c, fma(load(out + c), broadcast(shrink), (sum[0] + sum[1]) + (sum[2] + sum[3])));
  }
}

void add_tile(const float* scores, const float* values, Index ld, const Visible& rows, Index dim, float* part) {
  const float before = part[kPartMaximum];
  const float maximum = largest_of(scores, before);
  const Vec base = broadcast(finite_base(maximum));
  const float shrink = exp2_of(before - base[0]);
  alignas(64) float p[kTile];
  Vec sum{};
  for (Index j = 0; j < kTile; j += kLanes) {
    const Vec each = exp2_bounded(load(scores + j) - base);
    sum += each;
    store(p + j, each);
  }
  part[kPartMaximum] = maximum;
  part[kPartSum] = part[kPartSum] * shrink + reduce_add(sum);
  add_rows(p, values, ld, rows, dim, shrink, part + kPartOut);
}

struct Rows {
  const float* at;
  Index ld;
};

// Rows [first, first + count) of one head: where they stand if that will do, else as floats, padded, in `copy`.
Rows fetch(const AttentionInputs& in, const void* x, Index batch, Index kv_head, Index first, Index count,
           float* copy) {
  if (!in.bf16 && in.dim % kLanes == 0 && count % kLanes == 0) {
    const Index ld = in.kv_heads * in.dim;
    return {static_cast<const float*>(x) + (batch * in.keys + first) * ld + kv_head * in.dim, ld};
  }
  const Index ld = padded_stride(in.dim);
  copy_rows(in, x, in.keys, in.kv_heads, batch, kv_head, first, count, copy, ld);
  for (Index i = count * ld; i < (count + kLanes - 1) / kLanes * kLanes * ld; ++i) copy[i] = 0;
  return {copy, ld};
}

// A head's rows are a stride apart, and each is met once: fetched when they are asked for they cost three times the
// arithmetic, so the next tile's are asked for a tile ahead.
void prefetch(const AttentionInputs& in, const void* x, Index batch, Index kv_head, Index first) {
  constexpr Index kLine = 64;
  const Index size = in.bf16 ? 2 : 4;
  const Index row = in.kv_heads * in.dim * size;
  const char* at = static_cast<const char*>(x) + (batch * in.keys + first) * row + kv_head * in.dim * size;
  const Index end = first + kTile < in.keys ? first + kTile : in.keys;
  for (Index key = first; key < end; ++key, at += row) {
    for (Index byte = 0; byte < in.dim * size; byte += kLine) __builtin_prefetch(at + byte);
  }
}

void describe(const AttentionInputs& in, Index batch, DecodeQuery* queries) {
  QueryBlock block;
  for (Index head = 0; head < in.heads; ++head) {
    describe_queries(in, batch, head, 0, in.queries, block);
    for (Index t = 0; t < in.queries; ++t) {
      *queries++ = {block.scale[t], block.prior_scale[t], block.position[t], block.first_key[t]};
    }
  }
}

}  // namespace

Index attention_part_size(Index dim) {
  return kPartOut + padded_stride(dim);
}

Index attention_decode_scratch(Index heads, Index dim) {
  return (2 * kTile + heads * kDecodeQueries) * padded_stride(dim) + kTile + 4 * heads * kDecodeQueries;
}

Index attention_decode_plan(const AttentionForward& call, Index batch, Index head, std::uint8_t* skips,
                            float* scratch) {
  const AttentionInputs& in = call.in;
  const Index ld = padded_stride(in.dim);
  float* const keys = scratch;
  float* const rows = keys + kTile * ld;
  float* const queries = rows + kPanel * ld;
  float* const scores = queries + kPanel * in.dim;
  QueryBlock block;
  describe_queries(in, batch, head, 0, in.queries, block);
  pack_queries(in, in.q, batch, head, block, rows, queries);
  const TilePlan plan = plan_tiles(call, batch, head, block, {keys, queries, scores, scores + kTile * kPanel});
  __builtin_memcpy(skips, plan.skips, static_cast<std::size_t>(plan.tiles));
  return plan.skipped_pairs;
}

// All heads of a tile before the next one: their rows stand side by side in memory.
void attention_decode(const AttentionForward& call, Index batch, Index first, Index end, const std::uint8_t* skips,
                      float* parts, float* scratch) {
  static_assert(sizeof(DecodeQuery) == 4 * sizeof(float));
  const AttentionInputs& in = call.in;
  const Index ld = padded_stride(in.dim);
  float* const keys = scratch;
  float* const values = keys + kTile * ld;
  float* const scores = values + kTile * ld;
  float* const rows = scores + kTile;
  auto* const queries = reinterpret_cast<DecodeQuery*>(rows + in.heads * kDecodeQueries * ld);
  describe(in, batch, queries);
  const Index size = attention_part_size(in.dim);
  for (Index head = 0; head < in.heads; ++head) {
    copy_rows(in, in.q, in.queries, in.heads, batch, head, 0, in.queries, rows + head * in.queries * ld, ld);
  }
  for (Index i = 0; i < in.heads * in.queries * size; ++i) parts[i] = 0;
  for (Index i = 0; i < in.heads * in.queries; ++i) parts[i * size + kPartMaximum] = -__builtin_inff();
  for (Index key = first; key < end; key += kTile) {
    const Index count = end - key < kTile ? end - key : kTile;
    for (Index head = 0; head < in.heads; ++head) {
      const auto needs = [&](Index tile_key) {
        return skips == nullptr || skips[head * call.skip->key_blocks + tile_key / kTile] == 0;
      };
      if (key + kTile < end && needs(key + kTile)) {
        prefetch(in, in.k, batch, head / (in.heads / in.kv_heads), key + kTile);
        prefetch(in, in.v, batch, head / (in.heads / in.kv_heads), key + kTile);
      }
      if (!needs(key)) continue;
      const Index kv_head = head / (in.heads / in.kv_heads);
      const float* const prior = in.prior == nullptr ? nullptr : in.prior + head * in.distances;
      const Rows k = fetch(in, in.k, batch, kv_head, key, count, keys);
      const Rows v = fetch(in, in.v, batch, kv_head, key, count, values);
      for (Index i = head * in.queries; i < (head + 1) * in.queries; ++i) {
        const Index begin = queries[i].first_key - key;
        const Index seen = queries[i].position + 1 - key;
        const Visible visible = {key, begin < 0 ? 0 : begin, seen < count ? seen : count};
        if (visible.begin >= visible.end) continue;
        multiply_keys(rows + i * ld, k.at, k.ld, count, in.dim, scores);
        finish_logits(queries[i], visible, prior, scores);
        add_tile(scores, v.at, v.ld, visible, in.dim, parts + i * size);
      }
    }
  }
}

void attention_combine(const float* parts, Index ranges, Index stride, Index dim, float* out, float* lse) {
  constexpr double kLn2 = 0.6931471805599453;
  float maximum = -__builtin_inff();
  for (Index r = 0; r < ranges; ++r) {
    const float each = parts[r * stride + kPartMaximum];
    if (each > maximum || each != each) maximum = each;
  }
  const float base = finite_base(maximum);
  float sum = 0;
  for (Index c = 0; c < dim; ++c) out[c] = 0;
  for (Index r = 0; r < ranges; ++r) {
    const float* const part = parts + r * stride;
    const float shrink = exp2_of(part[kPartMaximum] - base);
    sum = ::fmaf(part[kPartSum], shrink, sum);
    for (Index c = 0; c < dim; ++c) out[c] = ::fmaf(part[kPartOut + c], shrink, out[c]);
  }
  for (Index c = 0; c < dim; ++c) out[c] /= sum;
  const double ln_sum = sum == 0 ? __builtin_nan("") : ::log(static_cast<double>(sum));
  *lse = static_cast<float>(static_cast<double>(maximum) * kLn2 + ln_sum);
}

}  // namespace bam::cpu::BAM_ISA
