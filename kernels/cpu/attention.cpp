#include "kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention_decode.h"
#include "kernels/cpu/attention_skip.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

template <typename Args>
AttentionInputs unpack(const Args& args) {
  AttentionInputs in{};
  in.queries = args.q.shape[1];
  in.keys = args.k.shape[1];
  in.heads = args.q.shape[2];
  in.kv_heads = args.k.shape[2];
  in.dim = args.q.shape[3];
  in.distances = args.prior.empty() ? 0 : args.prior.shape[1];
  in.bf16 = args.q.dtype == DType::bf16;
  in.scale_prior = args.ssmax == Ssmax::full;
  in.q = args.q.data;
  in.k = args.k.data;
  in.v = args.v.data;
  in.prior = static_cast<const float*>(args.prior.data);
  in.first_key = static_cast<const std::int32_t*>(args.first_key.data);
  in.ssmax_scale = args.ssmax == Ssmax::off ? nullptr : static_cast<const float*>(args.ssmax_scale.data);
  return in;
}

// Queries of a forward task: as many as one fetch of the keys can serve, fewer when threads would go idle. A query's
// result does not depend on it.
Index forward_block(Index heads, Index queries, int threads) {
  Index block = kAttentionQueries;
  while (block > 32 && heads * ceil_div(queries, block) < 4 * threads) block /= 2;
  return block;
}

// Backward in parts: a task is one (batch, key head) and a range of queries. One range is best, as each has sums of dk
// and dv of its own, which are added at the end; more are needed when heads are few. Their number depends on the shape
// alone for up to 8 threads, so the bits of the result do not depend on the threads either.
struct BackwardPlan {
  Index batch, group, stride, ranges;
  Index tasks;
  Index sums_size;  // dk and dv of one task, floats
  Index distances;  // that some pair has; beyond, the prior is not used and may be anything
  float* key_sums;  // [batch][key head][range][2][S][stride] with several ranges; else null, and each thread has one
  double* by_distance;  // [batch][key head][range][group][distances], null to skip
  double* scale_sums;   // [batch][key head][range][group], null to skip

  // Ranges have equal areas under the diagonal.
  Index first_query(const AttentionInputs& in, Index range) const {
    if (range == ranges) return in.queries;
    const double share = std::sqrt(static_cast<double>(range) / static_cast<double>(ranges));
    return static_cast<Index>(share * static_cast<double>(in.queries)) / kAttentionQueries * kAttentionQueries;
  }
};

// Distances 0 .. n - 1, n the most keys a query sees; none when no query sees two, as such rows have no gradient.
Index distances_in_use(const AttentionInputs& in, Index batch) {
  Index most = 0;
  for (Index i = 0; i < batch * in.queries; ++i) most = std::max(most, i % in.queries - in.first_key[i] + 1);
  return most > 1 ? most : 0;
}

BackwardPlan plan_backward(const AttentionBackwardArgs& args, const AttentionInputs& in, CpuContext& ctx) {
  BackwardPlan plan{};
  plan.batch = args.q.shape[0];
  plan.group = in.heads / in.kv_heads;
  plan.stride = ctx.simd->attention->stride(in.dim);
  const Index heads = plan.batch * in.kv_heads;
  const Index wanted = ceil_div(std::max<Index>(16, 2 * ctx.threads), std::max<Index>(1, heads));
  plan.ranges = std::clamp<Index>(wanted, 1, std::max<Index>(1, in.queries / (2 * kAttentionQueries)));
  plan.tasks = heads * plan.ranges;
  plan.sums_size = 2 * in.keys * plan.stride;
  if (plan.ranges > 1) {
    plan.key_sums = static_cast<float*>(ctx.shared(Slot::attention_a, bytes_of(plan.tasks * plan.sums_size)));
  }
  const bool want_scale = !args.dssmax_scale.empty() && in.ssmax_scale != nullptr;
  const bool want_distances = in.prior != nullptr && (!args.dprior.empty() || (want_scale && in.scale_prior));
  const Index table = want_distances ? plan.tasks * plan.group * in.distances : 0;
  const auto doubles = static_cast<std::size_t>(table + plan.tasks * plan.group);
  auto* const tables = static_cast<double*>(ctx.shared(Slot::attention_b, doubles * sizeof(double)));
  plan.by_distance = want_distances ? tables : nullptr;
  plan.scale_sums = want_scale ? tables + table : nullptr;
  plan.distances = want_distances ? distances_in_use(in, plan.batch) : 0;
  return plan;
}

// One task, from zeroed sums; stores dk and dv when nobody else adds to them.
void run_backward_task(const AttentionBackwardArgs& args, const AttentionBackward& call, const BackwardPlan& plan,
                       const AttentionKernels& kernels, Index task, float* memory) {
  const AttentionInputs& in = call.in;
  const Index range = task % plan.ranges;
  const Index batch = task / plan.ranges / in.kv_heads;
  const Index kv_head = task / plan.ranges % in.kv_heads;
  const Index first = plan.first_query(in, range);
  const Index end = plan.first_query(in, range + 1);
  float* const own_sums = memory + kernels.backward_scratch(in.dim, in.keys);
  AttentionSums sums{};
  sums.dk = plan.ranges > 1 ? plan.key_sums + task * plan.sums_size : own_sums;
  sums.dv = sums.dk + plan.sums_size / 2;
  std::fill_n(sums.dk, end * plan.stride, 0.0f);
  std::fill_n(sums.dv, end * plan.stride, 0.0f);
  if (plan.by_distance != nullptr) {
    sums.by_distance = plan.by_distance + task * plan.group * in.distances;
    std::fill_n(sums.by_distance, plan.group * in.distances, 0.0);
  }
  if (plan.scale_sums != nullptr) {
    sums.dssmax_scale = plan.scale_sums + task * plan.group;
    std::fill_n(sums.dssmax_scale, plan.group, 0.0);
  }
  kernels.backward(call, batch, kv_head, first, end - first, sums, memory);
  if (plan.ranges > 1) return;
  kernels.store_keys(in, batch, kv_head, 0, in.keys, sums.dk, 0, 1, args.dk.data, memory);
  kernels.store_keys(in, batch, kv_head, 0, in.keys, sums.dv, 0, 1, args.dv.data, memory);
}

// The keys of one range, whose dk and dv later ranges have added to as well.
void add_key_sums(const AttentionBackwardArgs& args, const AttentionInputs& in, const BackwardPlan& plan,
                  const AttentionKernels& kernels, Index task, float* memory) {
  const Index range = task % plan.ranges;
  const Index batch = task / plan.ranges / in.kv_heads;
  const Index kv_head = task / plan.ranges % in.kv_heads;
  const Index first = plan.first_query(in, range);
  const Index count = plan.first_query(in, range + 1) - first;
  const float* const dk = plan.key_sums + task * plan.sums_size;
  const float* const dv = dk + plan.sums_size / 2;
  const Index parts = plan.ranges - range;
  kernels.store_keys(in, batch, kv_head, first, count, dk, plan.sums_size, parts, args.dk.data, memory);
  kernels.store_keys(in, batch, kv_head, first, count, dv, plan.sums_size, parts, args.dv.data, memory);
}

// dprior and dssmax_scale from the tasks' sums, in the order of batch and range.
void add_head_sums(const AttentionBackwardArgs& args, const AttentionInputs& in, const BackwardPlan& plan, Index head) {
  const Index group_index = head % plan.group;
  const Index kv_head = head / plan.group;
  auto* const dprior = static_cast<float*>(args.dprior.data);
  auto* const dscale = static_cast<float*>(args.dssmax_scale.data);
  double scale_sum = 0;
  const auto slot = [&](Index b, Index range) {
    return ((b * in.kv_heads + kv_head) * plan.ranges + range) * plan.group + group_index;
  };
  if (plan.scale_sums != nullptr) {
    for (Index b = 0; b < plan.batch; ++b) {
      for (Index r = 0; r < plan.ranges; ++r) scale_sum += plan.scale_sums[slot(b, r)];
    }
  }
  if (plan.by_distance != nullptr) {
    // In the full form l = s ln n (u + b): the sums hold ln n dl, which s turns into db and b into ds.
    const double factor = in.scale_prior ? static_cast<double>(in.ssmax_scale[head]) : 1.0;
    for (Index n = 0; n < plan.distances; ++n) {
      double sum = 0;
      for (Index b = 0; b < plan.batch; ++b) {
        for (Index r = 0; r < plan.ranges; ++r) sum += plan.by_distance[slot(b, r) * in.distances + n];
      }
      if (dprior != nullptr) dprior[head * in.distances + n] += static_cast<float>(factor * sum);
      if (in.scale_prior) scale_sum += static_cast<double>(in.prior[head * in.distances + n]) * sum;
    }
  }
  if (dscale != nullptr) dscale[head] += static_cast<float>(scale_sum);
}

}  // namespace

void attention_forward(const AttentionForwardArgs& args, CpuContext& ctx) {
  const AttentionKernels& kernels = *ctx.simd->attention;
  AttentionForward call{unpack(args), static_cast<float*>(args.out.data), static_cast<float*>(args.lse.data), nullptr};
  const AttentionInputs& in = call.in;
  const std::optional<AttentionSkip> skip = plan_skipping(args, in, ctx);
  if (skip) call.skip = &*skip;
  if (is_decoding(in)) return decode_attention(args, call, ctx);
  const Index heads = args.q.shape[0] * in.heads;
  const Index block = forward_block(heads, in.queries, ctx.threads);
  const Index blocks = ceil_div(in.queries, block);
  const std::size_t scratch = bytes_of(kernels.forward_scratch(in.dim, skip ? skip->key_blocks : 0));
  ctx.reserve_per_thread(scratch);
  const auto tasks = static_cast<std::size_t>(heads * blocks);
  auto* const pairs = static_cast<double*>(ctx.shared(Slot::attention_b, tasks * sizeof(double)));
  // Heads one after another, so that their keys stay in cache; within one the last, longest block first.
  deal_out(ctx, heads * blocks, [&](Index task, int thread) {
    const Index head = task / blocks;
    const Index first = (blocks - 1 - task % blocks) * block;
    const Index skipped =
        kernels.forward(call, head / in.heads, head % in.heads, first, std::min(block, in.queries - first),
                        static_cast<float*>(ctx.scratch(thread, scratch)));
    pairs[task] = static_cast<double>(skipped);
  });
  if (!args.skipped.empty()) write_skipped_share(args, in, pairs, blocks);
}

void attention_backward(const AttentionBackwardArgs& args, CpuContext& ctx) {
  const AttentionKernels& kernels = *ctx.simd->attention;
  const AttentionBackward call{unpack(args), static_cast<const float*>(args.out.data),
                               static_cast<const float*>(args.lse.data), args.dout.data, args.dq.data};
  const AttentionInputs& in = call.in;
  const BackwardPlan plan = plan_backward(args, in, ctx);
  const Index own_sums = plan.ranges > 1 ? 0 : plan.sums_size;
  const std::size_t scratch = bytes_of(kernels.backward_scratch(in.dim, in.keys) + own_sums);
  ctx.reserve_per_thread(scratch);
  const auto memory = [&](int thread) { return static_cast<float*>(ctx.scratch(thread, scratch)); };
  deal_out(ctx, plan.tasks,
           [&](Index task, int thread) { run_backward_task(args, call, plan, kernels, task, memory(thread)); });
  if (plan.ranges > 1) {
    deal_out(ctx, plan.tasks,
             [&](Index task, int thread) { add_key_sums(args, in, plan, kernels, task, memory(thread)); });
  }
  deal_out(ctx, in.heads, [&](Index head, int) { add_head_sums(args, in, plan, head); });
}

}  // namespace bam::cpu
