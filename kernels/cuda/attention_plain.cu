#include "kernels/cuda/attention_plain.h"

namespace bam::cuda::plain {
namespace {

// Shared memory: queries, keys, values, then the probabilities of the tile.
std::size_t forward_bytes(Index dim) {
  return static_cast<std::size_t>(3 * kTile * row_stride(dim) + kWeights) * sizeof(float);
}

struct Softmax {
  float maximum = -INFINITY;
  float sum = 0.0F;
};

// Logits become probabilities relative to the new maximum; returns what shrinks the sums so far. NaN is passed over by
// the maximum and comes out in the sum.
BAM_DEVICE float exponentiate(float (&scores)[kOwn], Softmax& softmax) {
  float maximum = softmax.maximum;
  for (int u = 0; u < kOwn; ++u) maximum = fmaxf(maximum, scores[u]);
  maximum = fmaxf(maximum, shuffle_xor(maximum, 1));
  maximum = fmaxf(maximum, shuffle_xor(maximum, 2));
  const float base = maximum == -INFINITY ? 0.0F : maximum;
  const float shrink = exp2_fast(softmax.maximum - base);
  float sum = 0.0F;
  for (int u = 0; u < kOwn; ++u) sum += scores[u] = exp2_fast(scores[u] - base);
  sum += shuffle_xor(sum, 1);
  sum += shuffle_xor(sum, 2);
  softmax.maximum = maximum;
  softmax.sum = softmax.sum * shrink + sum;
  return shrink;
}

template <int kColumns>
BAM_KERNEL void plain_forward_kernel(tensor::ForwardCall call) {
  const AttentionForward& args = call.args;
  const AttentionInputs& in = args.in;
  const int dim = static_cast<int>(in.dim);
  float* const queries = reinterpret_cast<float*>(shared_memory());
  float* const keys = queries + kTile * row_stride(dim);
  float* const values = keys + kTile * row_stride(dim);
  float* const probabilities = values + kTile * row_stride(dim);
  const auto [row_index, part] = seat();
  const Index first = static_cast<Index>(gridDim.x - 1 - blockIdx.x) * kTile;  // the longest rows first
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index kv_head = head / (in.heads / in.kv_heads);
  const float* const prior = in.prior == nullptr ? nullptr : in.prior + head * in.distances;

  load_tile(queries, in.q, in.bf16, batch, in.queries, in.heads, head, first, dim);
  const Row row = describe_row(in, batch, head, first + row_index);
  int lowest = kNoKey;
  for (Index t = first; t < first + kTile && t < in.queries; ++t) {
    const int first_key = in.first_key[batch * in.queries + t];
    lowest = first_key < lowest ? first_key : lowest;
  }
  const Index last = in.keys - in.queries + first + kTile;
  const int end = static_cast<int>(last < in.keys ? last : in.keys);
  float* const own = probabilities + row_index * kWeightStride;
  float out[kColumns] = {};
  Softmax softmax;
  const Index block = (batch * in.heads + head) * gridDim.x + gridDim.x - 1 - blockIdx.x;
  const std::uint32_t* const needed =
      call.skip.needed == nullptr ? nullptr : call.skip.needed + block * call.skip.words;
  for (int key = lowest / kTile * kTile; key < end; key = tensor::next_needed(needed, key + kTile, end)) {
    sync_block();  // before the tiles are filled again
    load_tile(keys, in.k, in.bf16, batch, in.keys, in.kv_heads, kv_head, key, dim);
    load_tile(values, in.v, in.bf16, batch, in.keys, in.kv_heads, kv_head, key, dim);
    sync_block();
    float scores[kOwn];
    multiply_rows(scores, queries + row_index * row_stride(dim), keys, part, dim);
    to_logits(scores, row, prior, key, part);
    const float shrink = exponentiate(scores, softmax);
    for (int u = 0; u < kOwn; ++u) own[part + 4 * u] = scores[u];
    sync_warp();  // a row belongs to four threads of one warp
    for (int e = 0; e < kColumns; ++e) out[e] *= shrink;
    for (int j = 0; j < kTile; ++j) {
      if (is_visible(row, key + j)) add_row(out, own[j], values + j * row_stride(dim), part, dim);
    }
  }
  if (first + row_index >= in.queries) return;
  float* const to = args.out + ((batch * in.queries + first + row_index) * in.heads + head) * in.dim;
  BAM_UNROLL
  for (int e = 0; e < kColumns; ++e) {
    if (part + 4 * e < dim) to[part + 4 * e] = out[e] / softmax.sum;
  }
  if (part == 0) {
    args.lse[(batch * in.heads + head) * in.queries + first + row_index] = lse_of(softmax.maximum, softmax.sum);
  }
}

template <int kColumns>
void launch_forward(const tensor::ForwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  launch(&plain_forward_kernel<kColumns>,
         {static_cast<unsigned>(ceil_div(in.queries, kTile)), static_cast<unsigned>(in.heads),
          static_cast<unsigned>(in.batch)},
         kThreads, forward_bytes(in.dim), stream, call);
}

}  // namespace

std::size_t forward_scratch(const AttentionForward& args) {
  tensor::ForwardCall call;
  return tensor::plan_skip(args, kTile, call);
}

void forward(const AttentionForward& args, void* stream) {
  using Launcher = void (*)(const tensor::ForwardCall&, void*);
  constexpr Launcher kLaunchers[] = {&launch_forward<8>, &launch_forward<16>, &launch_forward<32>, &launch_forward<64>};
  tensor::ForwardCall call;
  if (tensor::plan_skip(args, kTile, call) > 0) plain::find_needed(call, stream);
  launcher_for(args.in.dim, kLaunchers)(call, stream);
  if (args.skipped != nullptr) tensor::store_shares(call, ceil_div(args.in.queries, kTile), stream);
}

}  // namespace bam::cuda::plain
