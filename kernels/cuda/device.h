// The device as the kernels of this folder see it: a launch, barriers, shuffles, and the tensor core instructions of
// sm_80 and later behind functions whose arguments are the fragments of the PTX manual. Everything a kernel uses that
// is not C++ stands here, so that the same sources run on the host: tests/cuda_on_host has a device.h of its own.
#pragma once

#ifdef BAM_CUDA_ON_HOST
#include "cuda_on_host/device.h"
#else

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "kernels/cuda/driver.h"

#define BAM_KERNEL __global__
#define BAM_DEVICE __device__ __forceinline__
// Of a kernel: how many threads a block has, and how many blocks a multiprocessor should hold.
#define BAM_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define BAM_BOTH __host__ __device__
#define BAM_UNROLL _Pragma("unroll")
#define BAM_NO_UNROLL _Pragma("unroll 1")

namespace bam::cuda {

using Bf16 = std::uint16_t;  // the upper half of a float's bits

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

// Runs kernel(args...) over a grid of blocks of `threads` threads with so many bytes of shared memory. Throws Error.
template <typename... Args>
void launch(void (*kernel)(Args...), Grid grid, unsigned threads, std::size_t shared_bytes, void* stream,
            std::type_identity_t<Args>... args) {
  constexpr std::size_t kWithoutAsking = 48 << 10;
  cudaError_t error = cudaSuccess;
  if (shared_bytes > kWithoutAsking) {
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  }
  if (error == cudaSuccess) {
    void* pointers[] = {&args...};
    error = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid.x, grid.y, grid.z), dim3(threads),
                             pointers, shared_bytes, static_cast<cudaStream_t>(stream));
  }
  if (error != cudaSuccess) fail_launch(error, shared_bytes);
}

BAM_DEVICE unsigned char* shared_memory() {
  extern __shared__ __align__(128) unsigned char bam_shared_memory[];
  return bam_shared_memory;
}

BAM_DEVICE void sync_block() {
  __syncthreads();
}
// A barrier that tells every thread whether `flag` held for any.
BAM_DEVICE bool any_in_block(bool flag) {
  return __syncthreads_or(flag ? 1 : 0) != 0;
}

// A barrier of the warp; what its lanes wrote before is seen by all of them.
BAM_DEVICE void sync_warp() {
  __syncwarp();
}

template <typename T>
BAM_DEVICE T shuffle_xor(T x, int lane_mask) {
  return __shfl_xor_sync(0xffffffffU, x, lane_mask);
}
// What the given lane has for x.
template <typename T>
BAM_DEVICE T shuffle(T x, int lane) {
  return __shfl_sync(0xffffffffU, x, lane);
}
// Bit l tells the flag of lane l.
BAM_DEVICE std::uint32_t vote(bool flag) {
  return __ballot_sync(0xffffffffU, flag);
}

BAM_DEVICE float exp2_fast(float x) {  // 2 ulp; 0 below -126
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// lo in the lower half, both rounded to nearest even.
BAM_DEVICE std::uint32_t pack_bf16(float lo, float hi) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(lo, hi);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

BAM_DEVICE unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Starts a copy of 16 bytes to shared memory; zeros instead where `valid` is false. Both addresses multiples of 16.
// What it wrote may be read behind commit_copies(), wait_copies<N>() and a barrier.
BAM_DEVICE void copy_async_16(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(valid ? 16 : 0));
}
// The same for 4 bytes.
BAM_DEVICE void copy_async_4(void* shared, const void* global, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(valid ? 4 : 0));
}
BAM_DEVICE void commit_copies() {
  asm volatile("cp.async.commit_group;");
}
// Waits until at most the last N groups of copies of this thread are under way.
template <int N>
BAM_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Four 8 x 8 matrices of 16-bit values. Lane 8 i + r gives the address of row r of matrix i; lane l receives of each
// the values at row l / 4, columns 2 (l % 4) and the next.
BAM_DEVICE void load_matrices(std::uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
// The same of each matrix transposed.
BAM_DEVICE void load_matrices_transposed(std::uint32_t (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

// c[16,8] += a[16,16] b[16,8], bf16 with float sums. With g = lane / 4 and t = lane % 4:
//   a[0] (g, 2t..) a[1] (g + 8, 2t..) a[2] (g, 2t + 8..) a[3] (g + 8, 2t + 8..);  b[0] (2t.., g)  b[1] (2t + 8.., g)
//   c[0], c[1] (g, 2t..)  c[2], c[3] (g + 8, 2t..)
BAM_DEVICE void multiply_16x8x16(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace bam::cuda

#endif
