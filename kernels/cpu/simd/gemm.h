// Small matrix products with register blocking: the one inner loop of attention, C[M,N] = A[M,K] B[K,N], where elements
// of A are broadcast (any strides) and rows of B are vectors.
//
// Six rows by two vectors fill the 16 registers of SSE and AVX2 (12 sums, 2 of B, 1 of A) and have 12 independent
// chains where 8 to 10 hide the latency of an FMA; AVX-512 has 32 registers and takes 12 rows, with A as a memory
// operand.
#pragma once

#include "kernels/cpu/simd/vec.h"

namespace bam::cpu::BAM_ISA {

constexpr int kMaxRows = kLanes == 16 ? 12 : 6;
constexpr int kPanel = 2 * kLanes;  // columns of a register block

// sum[r][v] = sum_k a[r * row + k * step] * b[k * ldb + v * kLanes ...]
template <int R, int V>
BAM_INLINE void multiply(Vec (&sum)[R][V], Index depth, const float* a, Index row, Index step, const float* b,
                         Index ldb) {
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) sum[r][v] = Vec{};
  }
  for (Index k = 0; k < depth; ++k) {
    Vec bv[V];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) bv[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec av = broadcast(a[r * row]);
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) sum[r][v] = fma(av, bv[v], sum[r][v]);
    }
    a += step;
    b += ldb;
  }
}

template <int R, typename Body>
BAM_INLINE void call_with_rows(int rows, Index first, Body&& body) {
  if (rows == R) {
    body.template operator()<R>(first);
  } else if constexpr (R > 1) {
    call_with_rows<R - 1>(rows, first, body);
  }
}

// Calls body.operator()<R>(first) for blocks of R <= kMaxRows rows that cover [0, count), as even as they come: five
// and five keep the FMA units busier than six and four.
template <typename Body>
BAM_INLINE void for_row_blocks(Index count, Body&& body) {
  const Index blocks = (count + kMaxRows - 1) / kMaxRows;
  Index first = 0;
  for (Index i = 0; i < blocks; ++i) {
    const Index rows = (count - first + blocks - i - 1) / (blocks - i);
    call_with_rows<kMaxRows>(static_cast<int>(rows), first, body);
    first += rows;
  }
}

// Row stride for matrices of `columns` columns: whole cache lines, an odd number of them, so that a walk down a column
// meets every set of the cache (64 rows of 64 floats packed tight would share 16 of the 64 sets).
constexpr Index padded_stride(Index columns) {
  return (((columns + 15) / 16) | 1) * 16;
}

// y[c * ldy + r] = x[r * ldx + c]
BAM_INLINE void transpose(const float* x, Index ldx, Index rows, Index columns, float* y, Index ldy) {
  Index whole_rows = 0;
  Index whole_columns = 0;
#ifdef __SSE2__
  whole_rows = rows / 4 * 4;
  whole_columns = columns / 4 * 4;
  for (Index r = 0; r < whole_rows; r += 4) {
    for (Index c = 0; c < whole_columns; c += 4) {
      const float* from = x + r * ldx + c;
      float* to = y + c * ldy + r;
      __m128 row0 = _mm_loadu_ps(from);
      __m128 row1 = _mm_loadu_ps(from + ldx);
      __m128 row2 = _mm_loadu_ps(from + 2 * ldx);
      __m128 row3 = _mm_loadu_ps(from + 3 * ldx);
      _MM_TRANSPOSE4_PS(row0, row1, row2, row3);
      _mm_storeu_ps(to, row0);
      _mm_storeu_ps(to + ldy, row1);
      _mm_storeu_ps(to + 2 * ldy, row2);
      _mm_storeu_ps(to + 3 * ldy, row3);
    }
  }
#endif
  for (Index r = 0; r < rows; ++r) {
    for (Index c = r < whole_rows ? whole_columns : 0; c < columns; ++c) y[c * ldy + r] = x[r * ldx + c];
  }
}

}  // namespace bam::cpu::BAM_ISA
