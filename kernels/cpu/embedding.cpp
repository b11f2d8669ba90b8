#include "kernels/ops/embedding.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {

void embedding_forward(const EmbeddingForwardArgs& args, CpuContext& ctx) {
  const Index length = args.tokens.shape[1];
  const Index dim = args.weight.shape[1];
  parallel_rows(ctx, args.tokens.count(), dim, [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      float* out = at<float>(args.out, n * dim);
      const Index id = *at<std::int32_t>(args.tokens, n);
      std::memcpy(out, at(args.weight, id * dim), static_cast<std::size_t>(dim) * sizeof(float));
      if (!args.positions.empty()) ctx.simd->add(out, at<float>(args.positions, n % length * dim), dim);
    }
  });
}

// Threads share the columns, not the tokens: each row of dweight then has one owner by column, and the order of its sum
// is that of the tokens for every thread count.
void embedding_backward(const EmbeddingBackwardArgs& args, CpuContext& ctx) {
  constexpr Index kColumns = 16;  // a cache line
  const Index count = args.tokens.count();
  const Index dim = args.dweight.shape[1];
  const Index blocks = (dim + kColumns - 1) / kColumns;
  parallel_rows(ctx, blocks, count * kColumns, [&](Index first_block, Index last_block) {
    const Index first = first_block * kColumns;
    const Index columns = std::min(dim, last_block * kColumns) - first;
    for (Index n = 0; n < count; ++n) {
      const Index id = *at<std::int32_t>(args.tokens, n);
      ctx.simd->add(at<float>(args.dweight, id * dim + first), at<float>(args.dout, n * dim + first), columns);
    }
  });
}

void sinusoidal_table(const SinusoidalTableArgs& args, CpuContext& ctx) {
  constexpr Index kOperations = 64;  // a sine costs as much as so many additions
  const Index dim = args.table.shape[1];
  parallel_rows(ctx, dim, args.table.shape[0] * kOperations, [&](Index first, Index last) {
    for (Index c = first; c < last; ++c) {
      const double frequency = std::pow(args.theta, -static_cast<double>(c) / static_cast<double>(dim));
      for (Index t = 0; t < args.table.shape[0]; ++t) {
        const double angle = static_cast<double>(args.first_position + t) * frequency;
        *at<float>(args.table, t * dim + c) = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  });
}

}  // namespace bam::cpu
