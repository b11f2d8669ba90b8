// What all attention kernels share: a query as a row of logits, times log2(e) so that 2^x is all they need.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {

constexpr double kLog2e = 1.4426950408889634;

struct Row {
  int position;        // among the keys; its last visible one
  int first_key;       // kNoKey for a query that does not exist: it sees nothing
  float factor;        // z log2(e) / sqrt(d)
  float prior_factor;  // log2(e), times z for full
};
constexpr int kNoKey = 0x7fffffff;

// ln of how many keys a row sees.
BAM_DEVICE double log_visible(const Row& row) {
  return log(static_cast<double>(row.position - row.first_key + 1));
}

BAM_DEVICE Row describe_row(const AttentionInputs& in, Index batch, Index head, Index query) {
  Row row{static_cast<int>(in.keys - in.queries + query), kNoKey, 0.0F, 0.0F};
  if (query >= in.queries) return row;
  row.first_key = in.first_key[batch * in.queries + query];
  const double z = in.ssmax_scale == nullptr ? 1.0 : static_cast<double>(in.ssmax_scale[head]) * log_visible(row);
  row.factor = static_cast<float>(z * kLog2e / sqrt(static_cast<double>(in.dim)));
  row.prior_factor = static_cast<float>(in.scale_prior ? z * kLog2e : kLog2e);
  return row;
}

BAM_DEVICE bool is_visible(const Row& row, int key) {
  return key <= row.position && key >= row.first_key;
}

// A row with one visible key has p = 1 and no gradient, whatever its logit.
BAM_DEVICE bool is_single(const Row& row) {
  return row.position == row.first_key;
}

// p = 2^(x - lse), which rounding of numbers like 1e30 must not lift above 1. NaN stays.
BAM_DEVICE float probability(float logit, float lse) {
  const float x = logit - lse;
  return exp2_fast(x > 0.0F ? 0.0F : x);
}

// The natural logarithm of sum 2^maximum. A row whose logits are all -inf has none, as in ref.
BAM_DEVICE float lse_of(float maximum, float sum) {
  if (sum == 0.0F) return NAN;
  return static_cast<float>(static_cast<double>(maximum) / kLog2e + log(static_cast<double>(sum)));
}

BAM_DEVICE float widen(Bf16 x) {
  union {
    std::uint32_t bits;
    float value;
  } both;
  both.bits = static_cast<std::uint32_t>(x) << 16;
  return both.value;
}

BAM_DEVICE float load_value(const void* x, bool bf16, Index at) {
  return bf16 ? widen(static_cast<const Bf16*>(x)[at]) : static_cast<const float*>(x)[at];
}

BAM_DEVICE void store_value(void* x, bool bf16, Index at, float value) {
  if (bf16) {
    static_cast<Bf16*>(x)[at] = static_cast<Bf16>(pack_bf16(value, 0.0F) & 0xffffU);
  } else {
    static_cast<float*>(x)[at] = value;
  }
}

// The smallest and the largest first key of some rows.
struct FirstKeys {
  int lowest, highest;
};

BAM_BOTH constexpr Index ceil_div(Index n, Index d) {
  return (n + d - 1) / d;
}

// Hands out pieces of the scratch memory; with none it only counts.
class Pieces {
 public:
  explicit Pieces(void* memory) : memory_(static_cast<unsigned char*>(memory)) {}
  template <typename T>
  T* take(Index count) {
    T* const piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 15) / 16 * 16;
    return piece;
  }
  std::size_t used() const { return used_; }

 private:
  unsigned char* memory_;
  std::size_t used_ = 0;
};

// Throws Error for what no kernel takes.
void check_inputs(const AttentionInputs& in);

}  // namespace bam::cuda
