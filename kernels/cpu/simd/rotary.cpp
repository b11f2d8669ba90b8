#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

// A pair is one 64-bit lane, its even member in the low half (as on every machine this is compiled for): shifts do for
// all instruction sets what each has a shuffle of its own for.
typedef std::uint64_t PairVec __attribute__((vector_size(4 * kLanes)));

BAM_INLINE Vec swap_pairs(Vec v) {
  const PairVec p = (PairVec)v;
  return (Vec)((p << 32) | (p >> 32));
}
BAM_INLINE Vec evens_twice(Vec v) {
  const PairVec p = (PairVec)v;
  return (Vec)((p << 32) | (p & 0xffffffffu));
}
BAM_INLINE Vec odds_twice(Vec v) {
  const PairVec p = (PairVec)v;
  return (Vec)((p >> 32) | (p & 0xffffffff00000000u));
}

// (a, b) becomes (a cos - b sin, b cos + a sin): with both halves of a pair side by side that is x cos + swapped x
// times (-sin, sin).
template <typename T>
BAM_INLINE void rotate(const RotaryHeads& args, T* x) {
  Vec sign{};
  for (int lane = 0; lane < kLanes; ++lane) sign[lane] = (lane % 2 == 0) == args.inverse ? 1.0f : -1.0f;
  for (Index head = 0; head < args.heads; ++head) {
    T* row = x + head * args.dim;
    for_vectors(args.dim, [&](Index i, auto part) {
      const Vec angle = load(args.table + i, part);
      const Vec v = load(row + i, part);
      store(row + i, fma(swap_pairs(v), odds_twice(angle) * sign, v * evens_twice(angle)), part);
    });
  }
}

}  // namespace

void rotary(const RotaryHeads& args) {
  if (args.half) {
    rotate(args, static_cast<Bf16*>(args.x));
  } else {
    rotate(args, static_cast<float*>(args.x));
  }
}

}  // namespace bam::cpu::BAM_ISA
