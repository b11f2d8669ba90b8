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
      const double log_keys = real ? ::log(static_cast<double>(position - first_key + 1)) : 0;
      const double z = in.ssmax_scale != nullptr ? static_cast<double>(in.ssmax_scale[head]) * log_keys : 1.0;
      block.log_keys[lane] = static_cast<float>(log_keys);
      block.scale[lane] = static_cast<float>(z * kLog2e / root);
      block.prior_scale[lane] = static_cast<float>(in.scale_prior ? z * kLog2e : kLog2e);
      block.position[lane] = static_cast<std::int32_t>(position);
      block.first_key[lane] = first_key;
      lowest = first_key < lowest ? first_key : lowest;
      highest = first_key > highest ? first_key : highest;
    }
    block.lowest_first_key[p] = lowest;
    block.highest_first_key[p] = highest;
  }
}

bool copy_rows(const AttentionInputs& in, const void* x, Index length, Index heads, Index batch, Index head,
               Index first, Index count, float* y, Index ld) {
  const Index stride = heads * in.dim;
  const Index start = (batch * length + first) * stride + head * in.dim;
  if (in.bf16) return copy_typed(static_cast<const Bf16*>(x) + start, stride, count, in.dim, y, ld);
  return copy_typed(static_cast<const float*>(x) + start, stride, count, in.dim, y, ld);
}

void store_row(const AttentionInputs& in, const float* x, void* y, Index at) {
  if (in.bf16) return store_typed(x, in.dim, static_cast<Bf16*>(y) + at);
  store_typed(x, in.dim, static_cast<float*>(y) + at);
}

}  // namespace bam::cpu::BAM_ISA
