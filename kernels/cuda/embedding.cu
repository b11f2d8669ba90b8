#include "kernels/ops/embedding.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

struct Forward {
  const std::int32_t* tokens;
  const float *weight, *positions;
  float* out;
  Index length, dim;
};

// A block a token.
BAM_KERNEL void forward_kernel(Forward args, bool aligned) {
  const Index n = blockIdx.x;
  const float* const from = args.weight + args.tokens[n] * args.dim;
  for (Index c = 4 * thread_index(); c < args.dim; c += 4 * kBlockThreads) {
    const int count = args.dim - c < 4 ? static_cast<int>(args.dim - c) : 4;
    float x[4];
    load_four(from + c, count, aligned, x);
    if (args.positions != nullptr) {
      float p[4];
      load_four(args.positions + n % args.length * args.dim + c, count, aligned, p);
      for (int i = 0; i < 4; ++i) x[i] += p[i];
    }
    store_four(args.out + n * args.dim + c, count, aligned, x);
  }
}

// A block a token: the first place of an id gathers for all of them, in the order of the tokens, so that a row of
// dweight has one writer and its sum one order. Looking for equals costs a comparison a pair of tokens, which is little
// beside the sums.
BAM_KERNEL void backward_kernel(const std::int32_t* tokens, const float* dout, Index count, Index dim, float* dweight) {
  std::uint32_t* const matches = reinterpret_cast<std::uint32_t*>(shared_memory());
  const Index n = blockIdx.x;
  const std::int32_t id = tokens[n];
  bool earlier = false;
  for (Index i = thread_index(); i < n && !earlier; i += kBlockThreads) earlier = tokens[i] == id;
  if (any_in_block(earlier)) return;
  float* const to = dweight + id * dim;
  for (Index first = n; first < count; first += kBlockThreads) {
    const Index i = first + thread_index();
    const std::uint32_t votes = vote(i < count && tokens[i < count ? i : n] == id);
    if (lane_index() == 0) matches[warp_index()] = votes;
    sync_block();
    for (int warp = 0; warp < kBlockWarps; ++warp) {
      std::uint32_t left = matches[warp];
      for (Index place = first + 32 * warp; left != 0; ++place, left >>= 1) {
        if ((left & 1U) == 0) continue;
        for (Index c = thread_index(); c < dim; c += kBlockThreads) to[c] += dout[place * dim + c];
      }
    }
    sync_block();  // before the votes of the next tokens
  }
}

BAM_KERNEL void sinusoidal_kernel(Index first_position, double theta, Index dim, Index count, float* table) {
  const Index i = grid_index();
  if (i >= count) return;
  const Index c = i % dim;
  const double frequency = pow(theta, -static_cast<double>(c) / static_cast<double>(dim));
  const double angle = static_cast<double>(first_position + i / dim) * frequency;
  table[i] = static_cast<float>(c % 2 == 0 ? sin(angle) : cos(angle));
}

}  // namespace

void embedding_forward(const EmbeddingForwardArgs& args, const Context& ctx) {
  const Index dim = args.weight.shape[1];
  if (args.tokens.count() == 0) return;
  const bool aligned = dim % 4 == 0 && in_fours(args.weight, args.positions, args.out);
  launch(&forward_kernel, {static_cast<unsigned>(args.tokens.count()), 1, 1}, kBlockThreads, 0, ctx.stream,
         Forward{data_of<std::int32_t>(args.tokens), data_of<float>(args.weight), data_of<float>(args.positions),
                 data_of<float>(args.out), args.tokens.shape[1], dim},
         aligned);
}

void embedding_backward(const EmbeddingBackwardArgs& args, const Context& ctx) {
  const Index count = args.tokens.count();
  if (count == 0) return;
  launch(&backward_kernel, {static_cast<unsigned>(count), 1, 1}, kBlockThreads, kBlockWarps * sizeof(std::uint32_t),
         ctx.stream, data_of<std::int32_t>(args.tokens), data_of<float>(args.dout), count, args.dweight.shape[1],
         data_of<float>(args.dweight));
}

void sinusoidal_table(const SinusoidalTableArgs& args, const Context& ctx) {
  const Index count = args.table.count();
  if (count == 0) return;
  launch(&sinusoidal_kernel, {blocks_of(count, kBlockThreads), 1, 1}, kBlockThreads, 0, ctx.stream, args.first_position,
         args.theta, args.table.shape[1], count, data_of<float>(args.table));
}

}  // namespace bam::cuda
