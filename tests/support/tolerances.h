// How far a backend may be from ref, as rules: about twice the error that the plain version of the op makes in the low
// precision (the textbook loop in float, sums in order), plus a floor of a few roundings. Nothing here is widened to
// make a test pass without a reason in writing.
#pragma once

#include <cmath>

#include "kernels/tensor.h"

namespace bam::test {

// What one entry may be off by.
struct Tolerance {
  double of_entry = 0;    // times its own size
  double of_largest = 0;  // times the size of the tensor's largest entry
  double absolute = 0;    // where the result is a difference of larger numbers, whose size the test knows

  double allowed(double entry, double largest) const {
    return of_entry * std::abs(entry) + of_largest * largest + absolute;
  }
  Tolerance operator+(const Tolerance& other) const {
    return {of_entry + other.of_entry, of_largest + other.of_largest, absolute + other.absolute};
  }
};

inline constexpr Tolerance kExact{};

// Half a unit in the last place, relative: 24 bits and 8 bits of significand.
inline double roundoff(DType dtype) {
  return dtype == DType::bf16 ? 0x1p-8 : 0x1p-24;
}

// A result that was right before it was rounded once.
inline Tolerance rounding(DType dtype) {
  return {.of_entry = 1.001 * roundoff(dtype)};
}

// A result of `steps` float operations that do not cancel, rounded to dtype at the end.
inline Tolerance few_roundings(DType dtype, double steps) {
  return rounding(dtype) + Tolerance{.of_entry = steps * roundoff(DType::f32)};
}

// A sum of `terms` products of independent normal numbers, each product of deviation `size`, rounded to dtype. The
// plain float loop is off by 1.6 to 2.8 terms size roundoff at worst (measured, 3 to 4096 terms, 12900 sums each):
// partial sums grow as sqrt(k), and so do their roundings, sqrt(k) of which add up.
inline Tolerance sum_of_products(DType dtype, Index terms, double size = 1.0) {
  return few_roundings(dtype, 1) + Tolerance{.absolute = 5 * roundoff(DType::f32) * static_cast<double>(terms) * size};
}

// The sum of dim squares in order is off by about sqrt(dim) roundings, and its root by half of that. The plain float
// loop uses 0.45 of this, and 0.3 of the next.
inline Tolerance norm_tolerance(DType dtype, Index dim) {
  return few_roundings(dtype, 4 + std::sqrt(static_cast<double>(dim)));
}

// dx is a difference of numbers of the size of the largest.
inline Tolerance norm_gradient_tolerance(Index dim) {
  return {.of_largest = (4 + std::sqrt(static_cast<double>(dim))) * roundoff(DType::f32)};
}

// silu's derivative has a zero, where its terms cancel; and where exp(-gate) is more than float holds the result is 0.
// The plain float loop uses 0.8 of this for dgate, 0.2 for the others.
inline Tolerance swiglu_tolerance(DType dtype) {
  return few_roundings(dtype, 8) + Tolerance{.of_largest = 4 * roundoff(DType::f32), .absolute = 1e-30};
}

// ln of a sum of exponentials, whose exponents are known to the roundoff of the logits. The plain float loop uses 0.7
// of this up to 1000 words, and three times as much at 50257: a sum in order is not good enough there.
inline Tolerance cross_entropy_tolerance(Index vocabulary, double logit_size) {
  const double u = roundoff(DType::f32);
  return {.of_entry = 2 * u, .absolute = u * (2 * logit_size + 8 + std::sqrt(static_cast<double>(vocabulary)))};
}

struct AttentionTolerances {
  Tolerance out, lse;
};

// A logit is a sum of dim products and then meets a prior of any size; its error is the relative error of a
// probability. `logit_size`: see attention_case.h. The plain float loop uses up to 0.35 of the bound of out and 0.5 of
// that of lse (measured on every case of attention_test.cpp). It does not depend on the dtype of q, k, v: scores and
// sums are float for all of them.
inline AttentionTolerances attention_tolerances(Index dim, double logit_size) {
  const double u = roundoff(DType::f32);
  const double logit = u * (4 * std::sqrt(static_cast<double>(dim)) + 4 * logit_size);
  return {.out = {.of_largest = logit + 8 * u}, .lse = {.of_entry = 2 * u, .absolute = logit + 4 * u}};
}

struct AttentionGradientTolerances {
  Tolerance dq, dk, dv, dprior, dssmax_scale;
};

// As out, but twice through the probabilities' error, and with sums over rows: `rows` is B T. The last two are sums of
// terms of both signs over all rows, whose size their largest entry does not tell. The plain float loop uses 0.3 of the
// bounds of dv and dprior, 0.4 of those of dq and dk (0.6 at length 2), 0.5 of that of dssmax_scale.
inline AttentionGradientTolerances attention_gradient_tolerances(DType dtype, Index rows, Index dim,
                                                                 double logit_size) {
  const double u = roundoff(DType::f32);
  const double logit = u * (4 * std::sqrt(static_cast<double>(dim)) + 4 * logit_size);
  const Tolerance by_key = rounding(dtype) + Tolerance{.of_largest = logit + 16 * u};
  const double terms = static_cast<double>(rows);
  return {.dq = by_key,
          .dk = by_key,
          .dv = by_key,
          .dprior = {.of_largest = logit + 16 * u, .absolute = 0.5 * u * terms},
          .dssmax_scale = {.of_largest = 2 * (logit + 16 * u), .absolute = 2 * u * terms}};
}

}  // namespace bam::test
