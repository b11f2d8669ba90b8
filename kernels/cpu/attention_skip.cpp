#include "kernels/cpu/attention_skip.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

// The extremes of a head's prior by blocks of distances; infinite where it is not all finite.
void prior_extremes(const float* prior, Index distances, float* high, float* low) {
  for (Index first = 0; first < distances; first += kPriorBlock) {
    const auto [least, most] = std::minmax_element(prior + first, prior + std::min(distances, first + kPriorBlock));
    const bool finite = std::all_of(prior + first, prior + std::min(distances, first + kPriorBlock),
                                    [](float b) { return std::isfinite(b); });
    *high++ = finite ? *most : HUGE_VALF;
    *low++ = finite ? *least : -HUGE_VALF;
  }
}

}  // namespace

void key_bounds(const KeyBoundsArgs& args, CpuContext& ctx) {
  const AttentionKernels& kernels = *ctx.simd->attention;
  const Shape& k = args.k.shape;
  const Index heads = k[2];
  const Index dim = k[3];
  const Index first = args.first / kKeyBlock;
  const Index blocks = args.bounds.shape[1];
  const Index tasks = k[0] * std::max<Index>(blocks - first, 0);
  parallel_rows(ctx, tasks, kKeyBlock * heads * dim, [&](Index begin, Index end) {
    for (Index task = begin; task < end; ++task) {
      const Index batch = task / (blocks - first);
      const Index block = first + task % (blocks - first);
      const Index rows = std::min(kKeyBlock, k[1] - block * kKeyBlock);
      for (Index head = 0; head < heads; ++head) {
        const Index start = ((batch * k[1] + block * kKeyBlock) * heads + head) * dim;
        kernels.key_bounds(at(args.k, start), at(args.v, start), is_half(args.k), heads * dim, rows, dim,
                           at<float>(args.bounds, ((batch * blocks + block) * heads + head) * 2 * dim));
      }
    }
  });
}

std::optional<AttentionSkip> plan_skipping(const AttentionForwardArgs& args, const AttentionInputs& in,
                                           CpuContext& ctx) {
  constexpr Index kFewBlocks = 8;
  if (args.skip_eps <= 0 || args.key_bounds.empty() || args.key_bounds.shape[1] < kFewBlocks) return std::nullopt;
  const Index batch = args.q.shape[0];
  const Index distances = std::min(in.distances, in.keys);
  AttentionSkip skip{};
  skip.log2_eps = static_cast<float>(std::log2(args.skip_eps));
  skip.key_bounds = static_cast<const float*>(args.key_bounds.data);
  skip.key_blocks = args.key_bounds.shape[1];
  skip.prior_blocks = ceil_div(distances, kPriorBlock);
  const Index table = in.heads * skip.prior_blocks;
  auto* const memory = static_cast<float*>(ctx.shared(Slot::attention_a, bytes_of(2 * table + batch * in.kv_heads)));
  float* const magnitude = memory + 2 * table;
  skip.key_magnitude = magnitude;
  if (in.prior != nullptr) {
    skip.prior_high = memory;
    skip.prior_low = memory + table;
    deal_out(ctx, in.heads, [&](Index head, int) {
      float* const high = memory + head * skip.prior_blocks;
      prior_extremes(in.prior + head * in.distances, distances, high, high + table);
    });
  }
  const Index row = 2 * in.dim;
  deal_out(ctx, batch * in.kv_heads, [&](Index head, int) {
    const float* bounds =
        skip.key_bounds + (head / in.kv_heads * skip.key_blocks * in.kv_heads + head % in.kv_heads) * row;
    float largest = 0;
    for (Index i = 0; i < skip.key_blocks; ++i, bounds += in.kv_heads * row) {
      largest = std::max(largest, *std::max_element(bounds, bounds + row));
    }
    magnitude[head] = largest;
  });
  return skip;
}

void write_skipped_share(const AttentionForwardArgs& args, const AttentionInputs& in, const double* pairs,
                         Index blocks) {
  double visible = 0;
  const Index rows = args.q.shape[0] * in.queries;
  for (Index i = 0; i < rows; ++i) {
    visible += static_cast<double>(in.keys - in.queries + i % in.queries - in.first_key[i] + 1);
  }
  for (Index head = 0; head < in.heads; ++head) {
    double skipped = 0;
    for (Index b = 0; b < args.q.shape[0]; ++b) {
      const double* const own = pairs + (b * in.heads + head) * blocks;
      skipped = std::accumulate(own, own + blocks, skipped);
    }
    *at<float>(args.skipped, head) = static_cast<float>(visible > 0 ? skipped / visible : 0);
  }
}

}  // namespace bam::cpu
