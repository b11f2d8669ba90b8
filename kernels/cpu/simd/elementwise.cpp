#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

template <typename T>
BAM_INLINE void add_any(float* x, const T* y, Index n) {
  for_vectors(n, [&](Index i, auto part) { store(x + i, load(x + i, part) + load(y + i, part), part); });
}

// Two vectors of doubles for one of floats: GCC 12 takes one of twice the width through memory, five times slower.
typedef float HalfVec __attribute__((vector_size(2 * kLanes)));
typedef double DVec __attribute__((vector_size(4 * kLanes)));

template <bool kSquared>
BAM_INLINE double sum_in_double(const float* x, Index n) {
  constexpr Index kHalf = kLanes / 2;
  DVec sums[4]{};
  Index i = 0;
  for (; i + 4 * kHalf <= n; i += 4 * kHalf) {
#pragma GCC unroll 4
    for (Index s = 0; s < 4; ++s) {
      HalfVec v;
      __builtin_memcpy(&v, x + i + s * kHalf, sizeof v);
      const DVec wide = __builtin_convertvector(v, DVec);
      sums[s] += kSquared ? wide * wide : wide;
    }
  }
  const DVec folded = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double total = 0;
  for (Index lane = 0; lane < kHalf; ++lane) total += folded[lane];
  for (; i < n; ++i) {
    const double wide = static_cast<double>(x[i]);
    total += kSquared ? wide * wide : wide;
  }
  return total;
}

}  // namespace

void add(float* x, const float* y, Index n) {
  add_any(x, y, n);
}

void add_half(float* x, const Bf16* y, Index n) {
  add_any(x, y, n);
}

double sum(const float* x, Index n) {
  return sum_in_double<false>(x, n);
}

double sum_of_squares(const float* x, Index n) {
  return sum_in_double<true>(x, n);
}

}  // namespace bam::cpu::BAM_ISA
