// Loops over OpenMP threads with static shares: which thread does what depends on the sizes and the thread count alone.
#pragma once

#include <algorithm>

#include "kernels/cpu/context.h"

namespace bam::cpu {

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

}  // namespace bam::cpu
