// What the kernels of this folder share: places in a grid, numbers of four at a time, sums over a warp and a block.
#pragma once

#include "base/types.h"
#include "kernels/cuda/device.h"
#include "kernels/tensor.h"

namespace bam::cuda {

inline constexpr int kBlockThreads = 256;
inline constexpr int kBlockWarps = kBlockThreads / 32;

BAM_DEVICE int thread_index() {
  return static_cast<int>(threadIdx.x);
}
BAM_DEVICE int warp_index() {
  return static_cast<int>(threadIdx.x) / 32;
}
BAM_DEVICE int lane_index() {
  return static_cast<int>(threadIdx.x) % 32;
}
// Of a grid of blocks of kBlockThreads.
BAM_DEVICE Index grid_index() {
  return static_cast<Index>(blockIdx.x) * kBlockThreads + static_cast<Index>(threadIdx.x);
}

inline unsigned blocks_of(Index count, Index per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

BAM_DEVICE float as_float(float x) {
  return x;
}
BAM_DEVICE float as_float(Bf16 x) {
  union {
    std::uint32_t bits;
    float value;
  } both;
  both.bits = static_cast<std::uint32_t>(x) << 16;
  return both.value;
}

BAM_DEVICE void store_as(float& to, float x) {
  to = x;
}
BAM_DEVICE void store_as(Bf16& to, float x) {
  to = static_cast<Bf16>(pack_bf16(x, 0.0F) & 0xffffU);
}

// Four neighbours at once: 16 bytes of float, 8 of bf16.
template <typename T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

// x[0 .. count) from p; `aligned`: p is a multiple of four elements. What is not there is 0.
template <typename T>
BAM_DEVICE void load_four(const T* p, int count, bool aligned, float (&x)[4]) {
  if (aligned && count == 4) {
    const Four<T> four = *reinterpret_cast<const Four<T>*>(p);
    for (int i = 0; i < 4; ++i) x[i] = as_float(four.at[i]);
  } else {
    for (int i = 0; i < 4; ++i) x[i] = i < count ? as_float(p[i]) : 0.0F;
  }
}
template <typename T>
BAM_DEVICE void store_four(T* p, int count, bool aligned, const float (&x)[4]) {
  if (aligned && count == 4) {
    Four<T> four;
    for (int i = 0; i < 4; ++i) store_as(four.at[i], x[i]);
    *reinterpret_cast<Four<T>*>(p) = four;
  } else {
    for (int i = 0; i < count; ++i) store_as(p[i], x[i]);
  }
}

// Whether all of them begin at multiples of four elements; empty ones do.
template <typename... Views>
bool in_fours(const Views&... views) {
  return ((reinterpret_cast<std::uintptr_t>(views.data) % (4 * size_of(views.dtype)) == 0) && ...);
}

// op(first, count, aligned) for every four of n elements, each by a thread of its own.
template <typename Op>
BAM_KERNEL void for_each_four_kernel(Op op, Index n, bool aligned) {
  const Index first = 4 * grid_index();
  if (first >= n) return;
  op(first, n - first < 4 ? static_cast<int>(n - first) : 4, aligned);
}
template <typename Op>
void for_each_four(const Op& op, Index n, bool aligned, void* stream) {
  if (n == 0) return;
  launch(&for_each_four_kernel<Op>, {blocks_of(n, 4 * kBlockThreads), 1, 1}, kBlockThreads, 0, stream, op, n, aligned);
}

// The same bits in every lane: the two halves of each addition are the same.
template <typename T>
BAM_DEVICE T warp_sum(T x) {
  for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
  return x;
}
BAM_DEVICE float warp_max(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, shuffle_xor(x, mask));
  return x;
}

// Over a block of kBlockThreads, in the order of its warps; `shared` holds a number for each warp.
template <typename T>
BAM_DEVICE T block_sum(T x, T* shared) {
  x = warp_sum(x);
  if (lane_index() == 0) shared[warp_index()] = x;
  sync_block();
  T sum = shared[0];
  for (int warp = 1; warp < kBlockWarps; ++warp) sum += shared[warp];
  sync_block();  // before `shared` is used again
  return sum;
}

}  // namespace bam::cuda
