#include "kernels/cuda/attention_backward.h"

#include <algorithm>

namespace bam::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kWantedBlocks = 528;  // four for each of the 132 multiprocessors of an H100

bool takes_tensor_cores(const AttentionBackward& args) {
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  return cuda::takes_tensor_cores(args.in) && aligned(args.dout) && aligned(args.dq) && aligned(args.dk) &&
         aligned(args.dv);
}

// A warp per row.
BAM_KERNEL void prepare_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  const Index index = static_cast<Index>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  if (index >= in.batch * in.heads * in.queries) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Index query = index % in.queries;
  const Index head = index / in.queries % in.heads;
  const Index batch = index / in.queries / in.heads;
  const Index at = ((batch * in.queries + query) * in.heads + head) * in.dim;
  float delta = 0.0F;
  for (Index c = lane; c < in.dim; c += 32)
    delta += load_value(call.args.dout, in.bf16, at + c) * call.args.out[at + c];
  for (int mask = 16; mask > 0; mask /= 2) delta += shuffle_xor(delta, mask);
  if (lane != 0) return;
  const Row row = describe_row(in, batch, head, query);
  const auto lse = static_cast<float>(static_cast<double>(call.args.lse[index]) * kLog2e);
  call.rows[index] = {row.factor, row.prior_factor, lse, delta};
}

// dprior of a head's block of distances, and what the bias adds to dssmax_scale in the full form, where
// l = s ln n (u + b): the sums hold ln n dl, which s turns into db and b into ds. A distance without a pair has the sum
// 0, whatever its bias.
BAM_KERNEL void finish_prior_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  double* const parts = reinterpret_cast<double*>(shared_memory());
  const Index head = blockIdx.y;
  const Index n = static_cast<Index>(blockIdx.x) * kDistanceBlock + threadIdx.x;
  double sum = 0;
  if (n < call.distances) {
    for (Index batch = 0; batch < in.batch; ++batch) {
      for (Index range = 0; range < call.ranges; ++range) {
        sum += static_cast<double>(
            call.by_distance[((batch * in.heads + head) * call.ranges + range) * call.distances + n]);
      }
    }
    const double factor = in.scale_prior ? static_cast<double>(in.ssmax_scale[head]) : 1.0;
    if (call.args.dprior != nullptr && sum != 0) {
      call.args.dprior[head * in.distances + n] += static_cast<float>(factor * sum);
    }
  }
  if (call.prior_parts == nullptr) return;
  parts[threadIdx.x] = sum != 0 ? sum * static_cast<double>(in.prior[head * in.distances + n]) : 0.0;
  for (unsigned half = kDistanceBlock / 2; half > 0; half /= 2) {
    sync_block();
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
  }
  if (threadIdx.x == 0) call.prior_parts[head * gridDim.x + blockIdx.x] = parts[0];
}

BAM_KERNEL void finish_scale_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  const Index head = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (head >= in.heads) return;
  double sum = 0;
  for (Index batch = 0; batch < in.batch; ++batch) {
    for (Index range = 0; range < call.ranges; ++range) {
      sum += static_cast<double>(call.scale_sums[(batch * in.heads + head) * call.ranges + range]);
    }
  }
  const Index parts = call.prior_parts == nullptr ? 0 : ceil_div(call.distances, kDistanceBlock);
  for (Index i = 0; i < parts; ++i) sum += call.prior_parts[head * parts + i];
  call.args.dssmax_scale[head] += static_cast<float>(sum);
}

std::size_t plan(const AttentionBackward& args, BackwardCall& call) {
  const AttentionInputs& in = args.in;
  const Index heads = in.batch * in.heads;
  const bool wants_scale = args.dssmax_scale != nullptr && in.ssmax_scale != nullptr;
  const bool wants_bias = wants_scale && in.scale_prior;
  Pieces pieces(args.scratch);
  call = {};
  call.args = args;
  call.distances = std::min(in.distances, in.keys);
  if (heads == 0 || in.queries == 0) return 0;
  const Index tile = takes_tensor_cores(args) ? tensor::kBackwardTile : plain::kQueryTile;
  call.ranges = std::clamp<Index>(ceil_div(kWantedBlocks, heads), 1, ceil_div(in.queries, tile));
  call.tiles = pieces.take<FirstKeys>(in.batch * ceil_div(in.queries, tensor::kBackwardTile));
  call.rows = pieces.take<RowGradient>(heads * in.queries);
  if (in.prior != nullptr && (args.dprior != nullptr || wants_bias)) {
    call.by_distance = pieces.take<float>(heads * call.ranges * call.distances);
    if (wants_bias) call.prior_parts = pieces.take<double>(in.heads * ceil_div(call.distances, kDistanceBlock));
  }
  if (wants_scale) call.scale_sums = pieces.take<float>(heads * call.ranges);
  return pieces.used();
}

}  // namespace

std::size_t attention_backward_scratch(const AttentionBackward& args) {
  AttentionBackward counted = args;
  counted.scratch = nullptr;
  BackwardCall call;
  return plan(counted, call);
}

void attention_backward(const AttentionBackward& args, void* stream) {
  const AttentionInputs& in = args.in;
  check_inputs(in);
  BackwardCall call;
  if (plan(args, call) == 0) return;
  const Index rows = in.batch * in.heads * in.queries;
  launch(&prepare_kernel, {static_cast<unsigned>(ceil_div(rows, kThreads / 32)), 1, 1}, kThreads, 0, stream, call);
  if (takes_tensor_cores(args)) {
    tensor::backward_queries(call, stream);
    tensor::backward_keys(call, stream);
  } else {
    plain::backward_queries(call, stream);
    plain::backward_keys(call, stream);
  }
  const auto heads = static_cast<unsigned>(in.heads);
  if (call.by_distance != nullptr) {
    launch(&finish_prior_kernel, {static_cast<unsigned>(ceil_div(call.distances, kDistanceBlock)), heads, 1},
           kDistanceBlock, kDistanceBlock * sizeof(double), stream, call);
  }
  if (call.scale_sums != nullptr) {
    launch(&finish_scale_kernel, {static_cast<unsigned>(ceil_div(in.heads, kThreads)), 1, 1}, kThreads, 0, stream,
           call);
  }
}

}  // namespace bam::cuda
