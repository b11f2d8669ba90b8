// Runs the attention kernels on the host: every operand between guards, as the dtype it has on a device.
#pragma once

#include <string>

#include "cuda_on_host/emulation.h"
#include "kernels/cuda/ops.h"
#include "support/attention_case.h"
#include "support/op_bench.h"

namespace bam::test {

// A tensor between NaNs, at a multiple of 16 bytes and `shift` elements.
class Operand {
 public:
  Operand(const Values& x, DType dtype, Index shift = 0)
      : shape_(x.shape), dtype_(dtype), memory_(2 * kGuard + x.at.size() * size_of(dtype) + 16, 0xFF) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + kGuard);
    offset_ = kGuard + (16 - address % 16) % 16 + static_cast<std::size_t>(shift) * size_of(dtype);
    for (Index i = 0; i < x.count(); ++i) store(rounded(x[i], dtype), dtype, at(i));
    before_ = memory_;
  }

  void* data() { return shape_.rank() == 0 ? nullptr : memory_.data() + offset_; }
  template <typename T>
  T* as() {
    return static_cast<T*>(data());
  }
  Values values() {
    Values x = filled(shape_, 0);
    for (Index i = 0; i < x.count(); ++i) x[i] = load(dtype_, at(i));
    return x;
  }
  // The guards alone, or for an input everything.
  bool is_untouched(bool input) const {
    const std::size_t end = offset_ + static_cast<std::size_t>(shape_.count()) * size_of(dtype_);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if ((input || i < offset_ || i >= end) && memory_[i] != before_[i]) return false;
    }
    return true;
  }
  Result result(const std::string& name, Tolerance tolerance) { return {name, dtype_, tolerance, values(), bytes()}; }
  std::string bytes() {
    const char* const first = reinterpret_cast<const char*>(memory_.data() + offset_);
    return {first, first + static_cast<std::size_t>(shape_.count()) * size_of(dtype_)};
  }

 private:
  static constexpr std::size_t kGuard = 128;
  char* at(Index i) {
    return reinterpret_cast<char*>(memory_.data() + offset_ + static_cast<std::size_t>(i) * size_of(dtype_));
  }

  Shape shape_;
  DType dtype_;
  std::vector<unsigned char> memory_, before_;
  std::size_t offset_ = 0;
};

inline Operand garbage(const Shape& shape, DType dtype, Index shift = 0) {
  return {filled(shape, -7), dtype, shift};
}

// Scratch memory of just so many bytes, aligned as the kernels ask.
class ScratchMemory {
 public:
  explicit ScratchMemory(std::size_t bytes) : operand_(filled({static_cast<Index>(bytes / 4 + 1)}, -7), DType::f32) {}
  void* data() { return operand_.data(); }
  bool is_untouched() const { return operand_.is_untouched(false); }

 private:
  Operand operand_;
};

struct AttentionOperands {
  AttentionOperands(const AttentionCase& c, const AttentionValues& x, DType dtype, Index shift = 0)
      : q(x.q, dtype, shift),
        k(x.k, dtype, shift),
        v(x.v, dtype, shift),
        prior(x.prior, DType::f32, shift),
        first_key(x.first_key, DType::i32, shift),
        ssmax_scale(x.ssmax_scale, DType::f32, shift) {
    in = {.q = q.data(),
          .k = k.data(),
          .v = v.data(),
          .bf16 = dtype == DType::bf16,
          .prior = prior.as<float>(),
          .first_key = first_key.as<std::int32_t>(),
          .ssmax_scale = ssmax_scale.as<float>(),
          .scale_prior = c.ssmax == Ssmax::full,
          .batch = c.batch,
          .queries = c.queries,
          .keys = c.keys,
          .heads = c.heads,
          .kv_heads = c.kv_heads,
          .dim = c.dim,
          .distances = x.prior.at.empty() ? 0 : x.prior.shape[1]};
  }
  bool are_untouched() const {
    for (const Operand* each : {&q, &k, &v, &prior, &first_key, &ssmax_scale}) {
      if (!each->is_untouched(true)) return false;
    }
    return true;
  }

  Operand q, k, v, prior, first_key, ssmax_scale;
  cuda::AttentionInputs in;
};

// Rounding p to bf16 before it multiplies v moves an output by at most 2^-9 max|v|.
inline Tolerance probability_rounding(const Values& v, DType dtype) {
  double largest = 0;
  for (const double each : v.at) largest = std::isfinite(each) ? std::max(largest, std::abs(each)) : largest;
  return {.absolute = dtype == DType::bf16 ? 0x1p-9 * largest : 0};
}

inline std::map<std::string, Values> attention_truth(const AttentionCase& c, const AttentionValues& x, DType dtype) {
  return run_on_ref([&](Bench& bench) {
    bench->attention_forward({.q = bench.in(x.q, dtype),
                              .k = bench.in(x.k, dtype),
                              .v = bench.in(x.v, dtype),
                              .prior = bench.optional_in(x.prior),
                              .first_key = bench.in(x.first_key, DType::i32),
                              .ssmax_scale = bench.optional_in(x.ssmax_scale),
                              .ssmax = c.ssmax,
                              .out = bench.out("out", x.q.shape, DType::f32, {}),
                              .lse = bench.out("lse", {c.batch, c.heads, c.queries}, DType::f32, {})});
  });
}

// out and lse of the kernels; REQUIREs that nothing else was written.
inline std::vector<Result> run_forward(const AttentionCase& c, const AttentionValues& x, DType dtype, Index shift = 0) {
  AttentionOperands operands(c, x, dtype, shift);
  Operand out = garbage(x.q.shape, DType::f32, shift);
  Operand lse = garbage({c.batch, c.heads, c.queries}, DType::f32, shift);
  cuda::AttentionForward call{};
  call.in = operands.in;
  call.out = out.as<float>();
  call.lse = lse.as<float>();
  ScratchMemory scratch(cuda::attention_forward_scratch(call));
  call.scratch = scratch.data();
  cuda::attention_forward(call, nullptr);
  REQUIRE((operands.are_untouched() && out.is_untouched(false) && lse.is_untouched(false) && scratch.is_untouched()));
  return {out.result("out", {}), lse.result("lse", {})};
}

inline void check_forward(const AttentionCase& c, const AttentionValues& x, DType dtype, Index shift = 0) {
  INFO(c << " " << name_of(dtype) << " shift " << shift);
  const auto truth = attention_truth(c, x, dtype);
  const auto tolerances = attention_tolerances(c.dim, logit_size(c, x.first_key, truth.at("lse")));
  auto results = run_forward(c, x, dtype, shift);
  results[0].tolerance = tolerances.out + probability_rounding(x.v, dtype);
  results[1].tolerance = tolerances.lse;
  for (const Result& each : results) CHECK(difference(each, truth.at(each.name)) == "");
}

inline void check_forward(const AttentionCase& c, DType dtype, Index shift = 0) {
  check_forward(c, make_attention(c), dtype, shift);
}

}  // namespace bam::test
