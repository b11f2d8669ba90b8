#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

typedef double DVec __attribute__((vector_size(8 * kLanes)));

template <typename T>
BAM_INLINE void add_any(float* x, const T* y, Index n) {
  for_vectors(n, [&](Index i, auto part) { store(x + i, load(x + i, part) + load(y + i, part), part); });
}

template <bool kSquared>
BAM_INLINE void add_to(DVec& sum, Vec v) {
  const DVec wide = __builtin_convertvector(v, DVec);
  sum += kSquared ? wide * wide : wide;
}

template <bool kSquared>
BAM_INLINE double sum_in_double(const float* x, Index n) {
  DVec s0{}, s1{};
  Index i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    add_to<kSquared>(s0, load(x + i));
    add_to<kSquared>(s1, load(x + i + kLanes));
  }
  for_vectors(n - i, [&](Index j, auto part) { add_to<kSquared>(s0, load(x + i + j, part)); });
  s0 += s1;
  double total = 0;
  for (int lane = 0; lane < kLanes; ++lane) total += s0[lane];
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
