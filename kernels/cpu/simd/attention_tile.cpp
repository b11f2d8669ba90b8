#include "kernels/cpu/simd/attention_tile.h"

#include <math.h>

namespace bam::cpu::BAM_ISA {
namespace {

template <typename T>
bool copy_typed(const T* x, Index stride, Index count, Index dim, float* y, Index ld) {
  const Index whole = dim / kLanes * kLanes;
  const int rest = static_cast<int>(dim - whole);
  UVec strange{};  // lanes with all exponent bits set: infinity or NaN
  constexpr Index kAhead = 8;
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  for (Index r = 0; r < count; ++r, x += stride, y += ld) {
    for (Index c = 0; c < dim; c += kLine) __builtin_prefetch(x + kAhead * stride + c);
    for (Index c = 0; c < whole; c += kLanes) {
      const Vec v = load(x + c);
      strange |= UVec((as_bits(v) & 0x7f800000u) == 0x7f800000u);
      store(y + c, v);
    }
    if (rest > 0) {
      const Vec v = load_first(x + whole, rest);
      strange |= UVec((as_bits(v) & 0x7f800000u) == 0x7f800000u);
      store(y + whole, v);
    }
  }
  return !any(IVec(strange));
}

template <typename T>
void store_typed(const float* x, Index dim, T* y) {
  Index c = 0;
  for (; c + kLanes <= dim; c += kLanes) store(y + c, load(x + c));
  if (c < dim) store_first(y + c, load_first(x + c, static_cast<int>(dim - c)), static_cast<int>(dim - c));
}

}  // namespace

void describe_queries(const AttentionInputs& in, Index batch, Index head, Index first, Index count, QueryBlock& block) {
  block.first = first;
  block.count = count;
  block.panels = static_cast<int>((count + kPanel - 1) / kPanel);
  const double root = ::sqrt(static_cast<double>(in.dim));
  for (int p = 0; p < block.panels; ++p) {
    const Index begin = p * kPanel;
    const Index end = begin + kPanel < count ? begin + kPanel : count;
    block.first_position[p] = in.keys - in.queries + first + begin;
    block.last_position[p] = in.keys - in.queries + first + end - 1;
    Index lowest = kNoKey;
    Index highest = 0;
    for (Index lane = begin; lane < begin + kPanel; ++lane) {
      const Index position = in.keys - in.queries + first + lane;
      const bool real = lane < count;
      const std::int32_t first_key = real ? in.first_key[batch * in.queries + first + lane] : kNoKey;
      const float log_keys = real ? ::logf(static_cast<float>(position - first_key + 1)) : 0;
      const double z = in.ssmax_scale != nullptr ? static_cast<double>(in.ssmax_scale[head] * log_keys) : 1.0;
      block.log_keys[lane] = log_keys;
      block.scale[lane] = static_cast<float>(z * kLog2e / root);
      block.prior_scale[lane] = static_cast<float>(in.scale_prior ? z * kLog2e : kLog2e);
      block.position[lane] = static_cast<std::int32_t>(position);
      block.first_key[lane] = first_key;
      lowest = first_key < lowest ? first_key : lowest;
      // The only key of a query counts as unclear: its probability and gradient are set, not computed.
      const Index clear_from = real && first_key == position ? position + 1 : first_key;
      highest = clear_from > highest ? clear_from : highest;
    }
    block.lowest_first_key[p] = lowest;
    block.clear_from[p] = highest;
  }
}

bool copy_rows(const AttentionInputs& in, const void* x, Index length, Index heads, Index batch, Index head,
               Index first, Index count, float* y, Index ld) {
  const Index stride = heads * in.dim;
  const Index start = (batch * length + first) * stride + head * in.dim;
  if (in.bf16) return copy_typed(static_cast<const Bf16*>(x) + start, stride, count, in.dim, y, ld);
  return copy_typed(static_cast<const float*>(x) + start, stride, count, in.dim, y, ld);
}

bool pack_queries(const AttentionInputs& in, const void* x, Index batch, Index head, const QueryBlock& block,
                  float* rows, float* panels) {
  const Index ld = padded_stride(in.dim);
  const bool finite = copy_rows(in, x, in.queries, in.heads, batch, head, block.first, block.count, rows, ld);
  for (Index i = block.count * ld; i < block.panels * kPanel * ld; ++i) rows[i] = 0;
  for (int p = 0; p < block.panels; ++p) {
    transpose(rows + p * kPanel * ld, ld, kPanel, in.dim, panels + p * kPanel * in.dim, kPanel);
  }
  return finite;
}

Index first_tile(const QueryBlock& block) {
  Index first = block.lowest_first_key[0];
  for (int p = 1; p < block.panels; ++p) {
    first = block.lowest_first_key[p] < first ? block.lowest_first_key[p] : first;
  }
  return first / kTile * kTile;
}

void store_row(const AttentionInputs& in, const float* x, void* y, Index at) {
  if (in.bf16) return store_typed(x, in.dim, static_cast<Bf16*>(y) + at);
  store_typed(x, in.dim, static_cast<float*>(y) + at);
}

}  // namespace bam::cpu::BAM_ISA
