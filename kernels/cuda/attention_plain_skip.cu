// Certified skipping of the plain kernels: the rule of attention_skip.cu, by float products and bounds.
#include "kernels/cuda/attention_plain.h"

namespace bam::cuda::plain {
namespace {

constexpr int kChunk = 32;  // tiles of keys that are looked at together: a word of bits
constexpr int kWarps = kThreads / 32;

struct Shared {
  tensor::Seeds seeds;
  float excess[kWarps][kChunk];
  Index pairs[kWarps];
};

// A block of queries while it is planned, as a thread of one of its rows sees it.
struct Plan {
  const tensor::ForwardCall* call;
  Shared* shared;
  float *queries, *keys;
  const float* prior;
  Index batch, head, kv_head, first;
  int first_position, last_position;  // of the block
  int begin, end;                     // tiles in question
  std::uint32_t* needed;              // of the block
  Row row;
  int row_index, part;
  float maximum;    // a lower bound of the row's largest logit
  float magnitude;  // the largest |factor q.k| of any key
  float threshold;  // what a bound has to stay below

  BAM_DEVICE bool is_in_question(int tile) const { return tile >= begin && tile < end; }
  BAM_DEVICE bool asks() const { return row.first_key != kNoKey; }
};

std::size_t plan_bytes(Index dim) {
  return sizeof(Shared) + static_cast<std::size_t>(2 * kTile * row_stride(dim)) * sizeof(float);
}

BAM_DEVICE float sum_of_row(float x) {
  x += shuffle_xor(x, 1);
  return x + shuffle_xor(x, 2);
}

// Raises the maximum by the logits of one tile of keys.
BAM_DEVICE void score(Plan& plan, int tile) {
  const AttentionInputs& in = plan.call->args.in;
  const int dim = static_cast<int>(in.dim);
  for (int key = tile * tensor::kTile; key < (tile + 1) * tensor::kTile; key += kTile) {
    sync_block();  // before the tile is filled again
    load_tile(plan.keys, in.k, in.bf16, plan.batch, in.keys, in.kv_heads, plan.kv_head, key, dim);
    sync_block();
    float scores[kOwn];
    multiply_rows(scores, plan.queries + plan.row_index * row_stride(dim), plan.keys, plan.part, dim);
    to_logits(scores, plan.row, plan.prior, key, plan.part);
    BAM_UNROLL
    for (int u = 0; u < kOwn; ++u) plan.maximum = fmaxf(plan.maximum, scores[u]);
  }
  plan.maximum = fmaxf(plan.maximum, shuffle_xor(plan.maximum, 1));
  plan.maximum = fmaxf(plan.maximum, shuffle_xor(plan.maximum, 2));
}

BAM_DEVICE void set_magnitude(Plan& plan) {
  const AttentionInputs& in = plan.call->args.in;
  const int dim = static_cast<int>(in.dim);
  const float largest_key = tensor::largest_key_of(plan.call->skip, plan.batch * in.kv_heads + plan.kv_head);
  float size = 0.0F;
  for (int c = plan.part; c < dim; c += 4) size += fabsf(plan.queries[plan.row_index * row_stride(dim) + c]);
  plan.magnitude = sum_of_row(size) * fabsf(plan.row.factor) * largest_key;
}

BAM_DEVICE void set_threshold(Plan& plan) {
  const auto keys = static_cast<float>(plan.row.position - plan.row.first_key + 1);
  const float slack = plan.magnitude * tensor::slack_of(static_cast<int>(plan.call->args.in.dim));
  plan.threshold = plan.maximum - log2f(keys) + plan.call->skip.log2_eps - slack - tensor::kLogSlack;
}

// How far the bound of a tile is above the row's threshold; NaN counts as infinitely far.
BAM_DEVICE float excess_of(const Plan& plan, int tile, const tensor::PriorRange& range) {
  const AttentionInputs& in = plan.call->args.in;
  const tensor::Skip& skip = plan.call->skip;
  const int dim = static_cast<int>(in.dim);
  const float* const bounds =
      skip.key_bounds + ((plan.batch * skip.key_blocks + tile) * in.kv_heads + plan.kv_head) * 2 * dim;
  const bool negative = plan.row.factor < 0.0F;
  float content = 0.0F;
  for (int c = plan.part; c < dim; c += 4) {
    const float q = plan.queries[plan.row_index * row_stride(dim) + c];
    content = fmaf(fabsf(q), bounds[(q < 0.0F) == negative ? c : dim + c], content);
  }
  const float bias = plan.row.prior_factor * (plan.row.prior_factor < 0.0F ? range.low : range.high);
  const float room = fabsf(bias) * (4.0F * tensor::kUnit);
  const float over = sum_of_row(content) * fabsf(plan.row.factor) + (bias + room) - plan.threshold;
  return over == over ? over : INFINITY;
}

// The excess of a chunk of tiles, at most over the rows of each warp.
BAM_DEVICE void measure(const Plan& plan, int chunk) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  tensor::PriorRange own{0.0F, 0.0F};
  if (plan.is_in_question(chunk + lane)) {
    own = tensor::prior_range(plan.call->skip, plan.head, plan.first_position, plan.last_position, chunk + lane);
  }
  for (int i = 0; i < kChunk; ++i) {
    if (!plan.is_in_question(chunk + i)) continue;
    const tensor::PriorRange range{shuffle(own.high, i), shuffle(own.low, i)};
    const float excess = excess_of(plan, chunk + i, range);
    float most = plan.asks() ? excess : -INFINITY;
    most = fmaxf(most, shuffle_xor(most, 4));
    most = fmaxf(most, shuffle_xor(most, 8));
    most = fmaxf(most, shuffle_xor(most, 16));
    if (lane == 0) plan.shared->excess[threadIdx.x / 32][i] = most;
  }
  sync_block();
}

// Leaves out what no row needs; counts what is left and its best as seeds.
BAM_DEVICE void leave_out(const Plan& plan) {
  Shared& shared = *plan.shared;
  if (threadIdx.x == 0) shared.seeds.clear();
  for (int chunk = plan.begin / kChunk * kChunk; chunk < plan.end; chunk += kChunk) {
    measure(plan, chunk);
    for (int i = 0; threadIdx.x == 0 && i < kChunk; ++i) {
      std::uint32_t& word = plan.needed[chunk / 32];
      if (!plan.is_in_question(chunk + i) || (word >> i & 1U) == 0) continue;
      float excess = shared.excess[0][i];
      for (int warp = 1; warp < kWarps; ++warp) excess = fmaxf(excess, shared.excess[warp][i]);
      if (excess < 0.0F) {
        word &= ~(1U << i);
      } else {
        shared.seeds.offer(chunk + i, excess);
      }
    }
    sync_block();  // before the excess of the next chunk, and for the others to see what is left
  }
}

BAM_DEVICE Plan begin_plan(const tensor::ForwardCall& call) {
  const AttentionInputs& in = call.args.in;
  const int dim = static_cast<int>(in.dim);
  Plan plan{};
  plan.call = &call;
  plan.shared = reinterpret_cast<Shared*>(shared_memory());
  plan.queries = reinterpret_cast<float*>(plan.shared + 1);
  plan.keys = plan.queries + kTile * row_stride(dim);
  const Index index = gridDim.x - 1 - blockIdx.x;  // the longest rows first
  plan.batch = blockIdx.z;
  plan.head = blockIdx.y;
  plan.kv_head = plan.head / (in.heads / in.kv_heads);
  plan.first = index * kTile;
  plan.prior = in.prior == nullptr ? nullptr : in.prior + plan.head * in.distances;
  plan.first_position = static_cast<int>(in.keys - in.queries + plan.first);
  const Index last = in.keys - in.queries + plan.first + kTile;
  plan.last_position = static_cast<int>((last < in.keys ? last : in.keys) - 1);
  const Index block = (plan.batch * in.heads + plan.head) * gridDim.x + index;
  plan.needed = call.skip.needed + block * call.skip.words;
  const Seat at = seat();
  plan.row_index = at.row;
  plan.part = at.part;
  plan.row = describe_row(in, plan.batch, plan.head, plan.first + at.row);
  plan.maximum = -INFINITY;
  const int diagonal = plan.first_position / tensor::kTile;
  plan.begin = tensor::first_keys_of<kTile>(in, plan.batch, plan.first).lowest / tensor::kTile + 1;
  plan.end = diagonal > 0 ? diagonal - 1 : 0;
  for (Index w = threadIdx.x; w < call.skip.words; w += kThreads) plan.needed[w] = 0xffffffffU;
  if (threadIdx.x == 0) call.skip.pairs[block] = 0;
  return plan;
}

BAM_KERNEL void plain_plan_kernel(tensor::ForwardCall call) {
  const AttentionInputs& in = call.args.in;
  Plan plan = begin_plan(call);
  if (plan.end <= plan.begin) return;
  Shared& shared = *plan.shared;
  load_tile(plan.queries, in.q, in.bf16, plan.batch, in.queries, in.heads, plan.head, plan.first,
            static_cast<int>(in.dim));
  sync_block();
  set_magnitude(plan);
  score(plan, plan.begin - 1);
  for (int tile = plan.end; tile <= plan.last_position / tensor::kTile; ++tile) score(plan, tile);
  set_threshold(plan);
  leave_out(plan);
  if (shared.seeds.needed > 2 * tensor::kSeeds) {
    const int seeds = shared.seeds.count;
    for (int i = 0; i < seeds; ++i) score(plan, shared.seeds.tile[i]);
    set_threshold(plan);
    sync_block();  // before seeds are looked for again
    leave_out(plan);
  }
  Index pairs = tensor::pairs_left_out(in, plan.needed, plan.batch, plan.first, kTile, plan.begin, plan.end);
  for (int mask = 16; mask > 0; mask /= 2) pairs += shuffle_xor(pairs, mask);
  if (threadIdx.x % 32 == 0) shared.pairs[threadIdx.x / 32] = pairs;
  sync_block();
  if (threadIdx.x != 0) return;
  const Index block = (plan.batch * in.heads + plan.head) * gridDim.x + gridDim.x - 1 - blockIdx.x;
  for (int warp = 0; warp < kWarps; ++warp) call.skip.pairs[block] += shared.pairs[warp];
}

}  // namespace

void find_needed(const tensor::ForwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  tensor::find_extremes(call, stream);
  launch(&plain_plan_kernel,
         {static_cast<unsigned>(ceil_div(in.queries, kTile)), static_cast<unsigned>(in.heads),
          static_cast<unsigned>(in.batch)},
         kThreads, plan_bytes(in.dim), stream, call);
}

}  // namespace bam::cuda::plain
