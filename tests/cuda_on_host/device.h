// kernels/cuda/device.h on the host: the same functions, by the definitions of the PTX manual.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "cuda_on_host/emulation.h"
#include "cuda_on_host/streams.h"

#define BAM_KERNEL
#define BAM_DEVICE inline
#define BAM_BOUNDS(threads, blocks)
#define BAM_BOTH
#define BAM_UNROLL
#define BAM_NO_UNROLL
#define threadIdx (::bam::cuda::on_host::place().thread)
#define blockIdx (::bam::cuda::on_host::place().block)
#define gridDim (::bam::cuda::on_host::place().blocks)

namespace bam::cuda {

using Bf16 = std::uint16_t;

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

template <typename... Args>
void launch(void (*kernel)(Args...), Grid grid, unsigned threads, std::size_t shared_bytes, void* stream,
            std::type_identity_t<Args>... args) {
  on_host::check_launch({grid.x, grid.y, grid.z}, threads, shared_bytes, (sizeof args + ... + 0));
  on_host::submit(stream, [=] {
    on_host::run({grid.x, grid.y, grid.z}, threads, shared_bytes, [&] { kernel(args...); });
  });
}

inline unsigned char* shared_memory() {
  return on_host::shared_memory();
}
inline void sync_block() {
  on_host::wait_for_block(false);
}
inline bool any_in_block(bool flag) {
  return on_host::wait_for_block(flag);
}

enum Instruction : int { kSyncWarp, kShuffle, kVote, kLoadMatrices, kLoadTransposed, kMultiply };

template <typename T>
T brought(const on_host::Warp& warp, int lane) {
  T value;
  std::memcpy(&value, warp.payload[lane], sizeof value);
  return value;
}

inline void sync_warp() {
  on_host::meet_warp(kSyncWarp, nullptr, 0);
}

template <typename T>
T shuffle_xor(T x, int lane_mask) {
  const on_host::Warp& warp = on_host::meet_warp(kShuffle, &x, sizeof x);
  return brought<T>(warp, on_host::lane() ^ lane_mask);
}
template <typename T>
T shuffle(T x, int lane) {
  const on_host::Warp& warp = on_host::meet_warp(kShuffle, &x, sizeof x);
  return brought<T>(warp, lane);
}
inline std::uint32_t vote(bool flag) {
  const on_host::Warp& warp = on_host::meet_warp(kVote, &flag, sizeof flag);
  std::uint32_t bits = 0;
  for (int lane = 0; lane < 32; ++lane) bits |= brought<bool>(warp, lane) ? std::uint32_t{1} << lane : 0U;
  return bits;
}

inline float exp2_fast(float x) {
  return x < -126.0F ? 0.0F : std::exp2(x);
}

inline std::uint32_t bf16_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return (bits | 0x400000U) >> 16;
  return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}
inline float half_of(std::uint32_t pair, int which) {
  const std::uint32_t bits = (which == 0 ? pair & 0xffffU : pair >> 16) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline std::uint32_t pack_bf16(float lo, float hi) {
  return bf16_of(lo) | bf16_of(hi) << 16;
}

inline void copy_async_16(void* shared, const void* global, bool valid) {
  on_host::copy_async(shared, valid ? global : nullptr, 16);
}
inline void copy_async_4(void* shared, const void* global, bool valid) {
  on_host::copy_async(shared, valid ? global : nullptr, 4);
}
inline void commit_copies() {
  on_host::commit_copies();
}
template <int N>
void wait_copies() {
  on_host::wait_copies(N);
}

inline void load_matrices(std::uint32_t (&r)[4], const void* row) {
  const on_host::Warp& warp = on_host::meet_warp(kLoadMatrices, &row, sizeof row);
  const int lane = on_host::lane();
  for (int i = 0; i < 4; ++i) {
    const auto* from = brought<const unsigned char*>(warp, 8 * i + lane / 4);
    std::memcpy(&r[i], from + 4 * (lane % 4), 4);
  }
}
inline void load_matrices_transposed(std::uint32_t (&r)[4], const void* row) {
  const on_host::Warp& warp = on_host::meet_warp(kLoadTransposed, &row, sizeof row);
  const int lane = on_host::lane();
  for (int i = 0; i < 4; ++i) {
    std::uint16_t pair[2];
    for (int j = 0; j < 2; ++j) {
      const auto* from = brought<const unsigned char*>(warp, 8 * i + 2 * (lane % 4) + j);
      std::memcpy(&pair[j], from + 2 * (lane / 4), 2);
    }
    r[i] = pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
  }
}

inline void multiply_16x8x16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct Operands {
    std::uint32_t a[4], b[2];
  } own;
  std::memcpy(own.a, a, sizeof own.a);
  own.b[0] = b0;
  own.b[1] = b1;
  const on_host::Warp& warp = on_host::meet_warp(kMultiply, &own, sizeof own);
  const int lane = on_host::lane();
  const auto pair_of = [&](int owner, int word) {
    std::uint32_t pair;
    std::memcpy(&pair, warp.payload[owner] + 4 * word, sizeof pair);
    return pair;
  };
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + 8 * (i / 2);
    const int column = 2 * (lane % 4) + i % 2;
    float sum = c[i];
    for (int k = 0; k < 16; k += 2) {
      const std::uint32_t left = pair_of(4 * (row % 8) + k % 8 / 2, row / 8 + 2 * (k / 8));
      const std::uint32_t right = pair_of(4 * column + k % 8 / 2, 4 + k / 8);
      sum += half_of(left, 0) * half_of(right, 0);
      sum += half_of(left, 1) * half_of(right, 1);
    }
    c[i] = sum;
  }
}

}  // namespace bam::cuda
