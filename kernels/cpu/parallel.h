// Loops over OpenMP threads with static shares: which thread does what depends on the sizes and the thread count alone.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/context.h"
#include "kernels/cpu/denormals.h"

namespace bam::cpu {

inline std::size_t bytes_of(Index floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

inline Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}

// Starting the threads costs about 5 us; a share below this many element operations is not worth a thread.
inline constexpr Index kShareElements = 16384;

// body(share, first, last) over [0, n) in at most `threads` shares of at least `least` items. Bodies must not throw.
template <typename Body>
void parallel_shares(const CpuContext& ctx, Index n, Index least, Body&& body) {
  const Index shares = std::clamp<Index>(n / std::max<Index>(least, 1), 1, ctx.threads);
  if (shares == 1) {
    if (n > 0) body(Index{0}, Index{0}, n);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(shares)) schedule(static, 1)
  for (Index share = 0; share < shares; ++share) {
    body(share, n * share / shares, n * (share + 1) / shares);
  }
}

// body(first, last) over rows of `width` elements each.
template <typename Body>
void parallel_rows(const CpuContext& ctx, Index rows, Index width, Body&& body) {
  parallel_shares(ctx, rows, kShareElements / std::max<Index>(width, 1),
                  [&](Index, Index first, Index last) { body(first, last); });
}

// body(first, count) over n elements, cut at multiples of a cache line.
template <typename Body>
void parallel_elements(const CpuContext& ctx, Index n, Body&& body) {
  constexpr Index kLine = 64;
  parallel_shares(ctx, (n + kLine - 1) / kLine, kShareElements / kLine, [&](Index, Index first, Index last) {
    const Index begin = first * kLine;
    body(begin, std::min(n, last * kLine) - begin);
  });
}

// body(task, thread) for every task, dealt out as threads come free, which evens out causal blocks of unequal cost and
// neighbours on the machine. Nothing depends on who does what: each task writes its own place in its own order. In a
// body denormal numbers are 0.
template <typename Body>
void deal_out(const CpuContext& ctx, Index tasks, Body&& body) {
  const int threads = static_cast<int>(std::min<Index>(ctx.threads, tasks));
  if (threads <= 1) {
    const DenormalsAreZero guard;
    for (Index task = 0; task < tasks; ++task) body(task, 0);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (Index task = 0; task < tasks; ++task) {
    const DenormalsAreZero guard;
    body(task, omp_get_thread_num());
  }
}

}  // namespace bam::cpu
