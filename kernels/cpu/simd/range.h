// Loops over n elements: whole vectors, then the few that are left, through one body.
#pragma once

#include "kernels/cpu/simd/vec.h"

namespace bam::cpu::BAM_ISA {

struct Whole {};
struct First {
  int n;  // 0 < n < kLanes
};

template <typename T>
BAM_INLINE Vec load(const T* p, Whole) {
  return load(p);
}
template <typename T>
BAM_INLINE Vec load(const T* p, First part) {
  return load_first(p, part.n);
}
template <typename T>
BAM_INLINE void store(T* p, Vec v, Whole) {
  store(p, v);
}
template <typename T>
BAM_INLINE void store(T* p, Vec v, First part) {
  store_first(p, v, part.n);
}

// body(i, part) for every vector of [0, n); part is Whole or First.
template <typename Body>
BAM_INLINE void for_vectors(Index n, Body&& body) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, Whole{});
  if (i < n) body(i, First{static_cast<int>(n - i)});
}

// The sum of term(i, part) over [0, n); unused lanes of the last vector must come out as 0. Four sums side by side,
// since one alone would wait for its own last addition.
template <typename Term>
BAM_INLINE float sum_vectors(Index n, Term&& term) {
  constexpr Index kStep = kLanes;
  Vec s0{}, s1{}, s2{}, s3{};
  Index i = 0;
  for (; i + 4 * kStep <= n; i += 4 * kStep) {
    s0 += term(i, Whole{});
    s1 += term(i + kStep, Whole{});
    s2 += term(i + 2 * kStep, Whole{});
    s3 += term(i + 3 * kStep, Whole{});
  }
  for (; i + kLanes <= n; i += kLanes) s0 += term(i, Whole{});
  if (i < n) s1 += term(i, First{static_cast<int>(n - i)});
  return reduce_add((s0 + s1) + (s2 + s3));
}

}  // namespace bam::cpu::BAM_ISA
