#include "kernels/cpu/attention_decode.h"

#include <algorithm>

#include "kernels/cpu/attention_skip.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

// Some tens of microseconds of work, many times the price of a task.
constexpr Index kRangeKeys = 1024;

// Which blocks of keys each (batch, head) may leave out, and how many pairs that are.
struct Plans {
  std::uint8_t* skips;  // [B,H][blocks], null when nothing is left out
  double* pairs;        // [B,H]
  Index blocks;
};

Plans make_plans(const AttentionForward& call, Index heads, CpuContext& ctx) {
  if (call.skip == nullptr) return {};
  const AttentionKernels& kernels = *ctx.simd->attention;
  const Index blocks = call.skip->key_blocks;
  const auto tasks = static_cast<std::size_t>(heads);
  auto* const memory =
      static_cast<char*>(ctx.shared(Slot::attention_b, tasks * (sizeof(double) + static_cast<std::size_t>(blocks))));
  const Plans plans = {reinterpret_cast<std::uint8_t*>(memory + tasks * sizeof(double)),
                       reinterpret_cast<double*>(memory), blocks};
  const std::size_t scratch = bytes_of(kernels.forward_scratch(call.in.dim, blocks));
  ctx.reserve_per_thread(scratch);
  deal_out(ctx, heads, [&](Index task, int thread) {
    const Index skipped =
        kernels.decode_plan(call, task / call.in.heads, task % call.in.heads, plans.skips + task * blocks,
                            static_cast<float*>(ctx.scratch(thread, scratch)));
    plans.pairs[task] = static_cast<double>(skipped);
  });
  return plans;
}

}  // namespace

bool is_decoding(const AttentionInputs& in) {
  return in.queries <= kDecodeQueries && in.keys > kKeyBlock;
}

void decode_attention(const AttentionForwardArgs& args, const AttentionForward& call, CpuContext& ctx) {
  const AttentionKernels& kernels = *ctx.simd->attention;
  const AttentionInputs& in = call.in;
  const Index heads = args.q.shape[0] * in.heads;
  const Index ranges = ceil_div(in.keys, kRangeKeys);
  const Index part = kernels.part_size(in.dim);
  const Plans plans = make_plans(call, heads, ctx);
  auto* const parts = static_cast<float*>(ctx.shared(Slot::partial_sums, bytes_of(heads * ranges * in.queries * part)));
  const std::size_t scratch = bytes_of(kernels.decode_scratch(in.heads, in.dim));
  ctx.reserve_per_thread(scratch);
  deal_out(ctx, args.q.shape[0] * ranges, [&](Index task, int thread) {
    const Index batch = task / ranges;
    const Index first = task % ranges * kRangeKeys;
    const std::uint8_t* const skips = plans.skips == nullptr ? nullptr : plans.skips + batch * in.heads * plans.blocks;
    kernels.decode(call, batch, first, std::min(in.keys, first + kRangeKeys), skips,
                   parts + task * in.heads * in.queries * part, static_cast<float*>(ctx.scratch(thread, scratch)));
  });
  const Index range = in.heads * in.queries * part;
  for (Index row = 0; row < heads * in.queries; ++row) {
    const Index batch = row / in.queries / in.heads;
    const Index head = row / in.queries % in.heads;
    const Index query = row % in.queries;
    kernels.combine(parts + batch * ranges * range + (head * in.queries + query) * part, ranges, range, in.dim,
                    call.out + ((batch * in.queries + query) * in.heads + head) * in.dim, call.lse + row);
  }
  if (args.skipped.empty()) return;
  if (plans.pairs == nullptr) {
    std::fill_n(static_cast<float*>(args.skipped.data), in.heads, 0.0f);
  } else {
    write_skipped_share(args, in, plans.pairs, 1);
  }
}

}  // namespace bam::cpu
