// One vector of floats per instruction set, and the few functions kernels are written with. GCC's vector types give
// + - * / and comparisons; an intrinsic stands only where the compilers do not find the instruction themselves.
// What may be included here: see kernels.h.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>

#include "kernels/cpu/simd/kernels.h"

#define BAM_INLINE [[gnu::always_inline]] inline  // inlined in debug builds too: a vector passed by value is slow

namespace bam::cpu::BAM_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float Vec __attribute__((vector_size(4 * kLanes)));
typedef std::int32_t IVec __attribute__((vector_size(4 * kLanes)));  // also the mask type: 0 or -1 per lane
typedef std::uint32_t UVec __attribute__((vector_size(4 * kLanes)));
typedef Bf16 HVec __attribute__((vector_size(2 * kLanes)));

BAM_INLINE Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
BAM_INLINE IVec load(const std::int32_t* p) {
  IVec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
BAM_INLINE void store(float* p, Vec v) {
  __builtin_memcpy(p, &v, sizeof v);
}

BAM_INLINE Vec broadcast(float x) {
  return x - Vec{};  // x for every x, -0.0 too
}
BAM_INLINE IVec broadcast(std::int32_t x) {
  return x + IVec{};
}

BAM_INLINE Vec as_float(UVec v) {
  return (Vec)v;
}
BAM_INLINE UVec as_bits(Vec v) {
  return (UVec)v;
}

BAM_INLINE Vec select(IVec mask, Vec yes, Vec no) {
  return mask ? yes : no;
}

BAM_INLINE bool any(IVec mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
#else
  std::int32_t seen = 0;
  for (int i = 0; i < kLanes; ++i) seen |= mask[i];
  return seen != 0;
#endif
}

// a * b + c, rounded once where the instruction set can.
BAM_INLINE Vec fma(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__aarch64__)
  return vfmaq_f32(c, a, b);
#else
  return a * b + c;
#endif
}

// The AVX-512 forms with a mask of all lanes: GCC 12 warns of the plain ones in its own header.

// The larger; a NaN in b comes through, a NaN in a gives b. (x86 decides the operand order; the rest follows it.)
BAM_INLINE Vec max(Vec a, Vec b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(0xffff, a, b);
#elif defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}
BAM_INLINE Vec min(Vec a, Vec b) {  // NaN as in max
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(0xffff, a, b);
#elif defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

BAM_INLINE Vec sqrt(Vec v) {
#if defined(__AVX512F__)
  return _mm512_maskz_sqrt_ps(0xffff, v);
#elif defined(__AVX2__)
  return _mm256_sqrt_ps(v);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
#endif
}

BAM_INLINE float reduce_add(Vec v) {  // in a fixed order: halves onto halves
  float t[kLanes];
  store(t, v);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) t[i] += t[i + width];
  }
  return t[0];
}

// First n < kLanes elements; the other lanes are 0 and are not touched in memory.
BAM_INLINE Vec load_first(const float* p, int n) {
  Vec v{};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
BAM_INLINE void store_first(float* p, Vec v, int n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}

BAM_INLINE Vec load(const Bf16* p) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  // GCC 12 makes four instructions of the conversion below: swiglu on bf16 took 10 % longer.
  return as_float((UVec)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) << 16);
#else
  HVec half;
  __builtin_memcpy(&half, p, sizeof half);
  return as_float(__builtin_convertvector(half, UVec) << 16);
#endif
}

BAM_INLINE void store(Bf16* p, Vec v) {
  const UVec bits = as_bits(v);
  const UVec rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const UVec picked = v == v ? rounded : bits | 0x400000u;  // rounding could carry a NaN into the sign
#if defined(__AVX2__) && !defined(__AVX512F__)
  // The upper halves of each 128 bits, then the two lots side by side; GCC 12 takes two instructions more.
  const __m256i upper = _mm256_setr_epi64x(0x0f0e0b0a07060302, -1, 0x0f0e0b0a07060302, -1);
  const __m256i halves = _mm256_permute4x64_epi64(_mm256_shuffle_epi8((__m256i)picked, upper), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(halves));
#else
  const HVec half = __builtin_convertvector(picked >> 16, HVec);
  __builtin_memcpy(p, &half, sizeof half);
#endif
}
BAM_INLINE Vec load_first(const Bf16* p, int n) {
  HVec half{};
  for (int i = 0; i < n; ++i) half[i] = p[i];
  return as_float(__builtin_convertvector(half, UVec) << 16);
}
BAM_INLINE void store_first(Bf16* p, Vec v, int n) {
  Bf16 t[kLanes];
  store(t, v);
  for (int i = 0; i < n; ++i) p[i] = t[i];
}

// 2^x for x <= 127.5: 0 below -126.5, NaN stays NaN, 2^0 = 1. 2^n through the exponent bits, n the nearest integer (n =
// -127 makes 0), times a polynomial for 2^f, |f| <= 1/2, minimax in relative error (2e-9) with p(0) = 1 exactly. Error
// below 2 ulp.
BAM_INLINE Vec exp2_bounded(Vec x) {
  const Vec clamped = max(broadcast(-127.0f), x);
  const Vec magic = broadcast(12582912.0f);  // 1.5 * 2^23: the integer lands in the lowest bits
  const Vec t = clamped + magic;
  const Vec f = clamped - (t - magic);
  Vec p = broadcast(1.5353362e-4f);
  p = fma(p, f, broadcast(1.33988739e-3f));
  p = fma(p, f, broadcast(9.61843692e-3f));
  p = fma(p, f, broadcast(5.55033237e-2f));
  p = fma(p, f, broadcast(2.40226477e-1f));
  p = fma(p, f, broadcast(6.93147182e-1f));
  p = fma(p, f, broadcast(1.0f));
  const Vec scale = as_float((as_bits(t) << 23) + 0x3f800000u);
  return p * scale;  // a product, not an addition of bits: NaN must survive
}

// The same for every x: infinity above 127.5.
BAM_INLINE Vec exp2(Vec x) {
  return exp2_bounded(min(broadcast(128.0f), x));
}

// e^x, in the manner of exp2: 0 below -87.7, infinity above 88.38, NaN stays NaN, e^0 = 1. Error below 2 ulp.
BAM_INLINE Vec exp(Vec x) {
  const Vec clamped = min(broadcast(89.0f), max(broadcast(-88.0296919f), x));
  const Vec magic = broadcast(12582912.0f);
  const Vec t = fma(clamped, broadcast(1.44269504f), magic);
  const Vec n = t - magic;
  const Vec high = fma(n, broadcast(-6.93145752e-1f), clamped);  // exact: ln 2 in two parts, this one of 15 bits
  const Vec f = fma(n, broadcast(-1.42860677e-6f), high);
  Vec p = broadcast(1.38144672e-3f);
  p = fma(p, f, broadcast(8.36878084e-3f));
  p = fma(p, f, broadcast(4.16683927e-2f));
  p = fma(p, f, broadcast(1.66665196e-1f));
  p = fma(p, f, broadcast(4.9999994e-1f));
  p = fma(p, f, broadcast(1.0f));
  p = fma(p, f, broadcast(1.0f));
  return p * as_float((as_bits(t) << 23) + 0x3f800000u);
}

}  // namespace bam::cpu::BAM_ISA
