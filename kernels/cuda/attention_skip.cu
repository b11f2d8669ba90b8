// Certified skipping on tensor cores: which tiles of keys the queries of a block need.
//
// For a query i let u_i(J) be an upper bound of its logits over the keys of a tile J, and m_i a lower bound of its
// largest logit, found by computing a few tiles. A tile is left out when for every query of a block
//
//   u_i(J) < m_i - ln(n_i / eps)       n_i visible keys
//
// Then all that is left out holds, in the sum of exp over the row, less than n_i exp(m_i) eps / n_i = eps exp(m_i), and
// the row's whole sum is at least exp(m_i): the dropped share is below eps.
//
// u_i(J) is the bound of q.k by channel, sum_c max(q_c max_J k_c, q_c min_J k_c) = q+ . max_J k + q- . max_J (-k),
// which is a product of bf16 numbers like any other, 1/64 of what the tiles themselves cost; scaled by the query's own
// factor (for a negative one q+ and q- change places), plus the extreme of the prior over the distances in question.
// Both are compared with room for the rounding of the logits themselves.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/attention_skip.h"

#include "kernels/cuda/attention_forward.h"

namespace bam::cuda::tensor {
namespace {

constexpr Index kFewBlocks = 8;       // of keys, too few for skipping to pay
constexpr Index kMagnitudePart = 64;  // blocks of keys

template <int D>
struct Shared {
  alignas(16) Bf16 queries[kRows<D> * kStride<D>];
  alignas(16) Bf16 keys[kTileValues<D>];
  alignas(16) Bf16 parts[kRows<D> * kStride<2 * D>];  // q+, q-, or for a negative factor q-, q+
  alignas(16) Bf16 bounds[kTileValues<2 * D>];
  float bias[kBiases<D>];
  std::int32_t first_key[kRows<D>];
  bool negative[kRows<D>];
  float high[kTile], low[kTile];  // of the prior, by tile of a chunk
  float excess[kWarps][kTile];
  float worst[kWarps], least_factor[kWarps], most_factor[kWarps];
  Seeds seeds;
  Index pairs[kWarps];
};

BAM_KERNEL void prior_extremes_kernel(ForwardCall call) {
  const AttentionInputs& in = call.args.in;
  const Index block = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index head = blockIdx.y;
  if (block >= call.skip.prior_blocks) return;
  const Index distances = in.distances < in.keys ? in.distances : in.keys;
  float high = -INFINITY;
  float low = INFINITY;
  bool finite = true;
  for (Index n = block * kPriorBlock; n < (block + 1) * kPriorBlock && n < distances; ++n) {
    const float b = in.prior[head * in.distances + n];
    finite = finite && b - b == 0.0F;
    high = fmaxf(high, b);
    low = fminf(low, b);
  }
  call.skip.prior_high[head * call.skip.prior_blocks + block] = finite ? high : INFINITY;
  call.skip.prior_low[head * call.skip.prior_blocks + block] = finite ? low : -INFINITY;
}

// A warp per part.
BAM_KERNEL void magnitudes_kernel(ForwardCall call) {
  const AttentionInputs& in = call.args.in;
  const Index part = blockIdx.x;
  const Index kv_head = blockIdx.y;
  const Index batch = blockIdx.z;
  float largest = 0.0F;
  for (Index block = part * kMagnitudePart; block < (part + 1) * kMagnitudePart && block < call.skip.key_blocks;
       ++block) {
    const float* const bounds =
        call.skip.key_bounds + ((batch * call.skip.key_blocks + block) * in.kv_heads + kv_head) * 2 * in.dim;
    for (Index c = threadIdx.x; c < 2 * in.dim; c += 32) largest = fmaxf(largest, bounds[c]);
  }
  largest = max_of_warp(largest);
  if (threadIdx.x == 0)
    call.skip.magnitudes[(batch * in.kv_heads + kv_head) * call.skip.magnitude_parts + part] = largest;
}

// A block of queries while it is planned; what a thread knows of its rows is in `rows` and here.
template <int D>
struct Plan {
  static constexpr int kCount = 2 * kBands<D>;
  const ForwardCall* call;
  Shared<D>* shared;
  Index batch, head, kv_head, first;
  int first_position, last_position;  // of the block
  FirstKeys first_keys;
  int begin, end;         // tiles in question
  std::uint32_t* needed;  // of the block
  Lane at;
  float size[kCount];       // |factor|
  float magnitude[kCount];  // the largest |factor q.k| of any key
  float threshold[kCount];  // what the bound has to stay below

  BAM_DEVICE int first_key(int r) const { return shared->first_key[16 * kBands<D> * at.warp + 8 * r + at.g]; }
  BAM_DEVICE bool is_needed(int tile) const { return (needed[tile / 32] >> (tile % 32) & 1U) != 0; }
  BAM_DEVICE bool is_in_question(int tile) const { return tile >= begin && tile < end; }
};

template <int D>
BAM_DEVICE PriorRange prior_range(const Plan<D>& plan, int tile) {
  return prior_range(plan.call->skip, plan.head, plan.first_position, plan.last_position, tile);
}

// Writes which of 32 tiles a warp's lanes want to leave out.
template <int D>
BAM_DEVICE void leave_out(const Plan<D>& plan, int first_of_word, bool unneeded) {
  const std::uint32_t votes = vote(unneeded);
  const Index word = first_of_word / 32;
  if (plan.at.lane == 0 && votes != 0 && word < plan.call->skip.words) plan.needed[word] &= ~votes;
}

// Raises the maxima by the logits of one tile; keys of the future and of other documents stay out of it.
template <int D>
BAM_DEVICE void score(Plan<D>& plan, int tile, WarpRows<D>& rows, const Left<D, kBands<D>, false>& queries) {
  const AttentionInputs& in = plan.call->args.in;
  Shared<D>& shared = *plan.shared;
  const int key = tile * kTile;
  sync_block();  // before the tile is filled again
  fetch_rows<D, kTile>(shared.keys, in.k, plan.batch, in.keys, in.kv_heads, plan.kv_head, key);
  fetch_bias<kBiases<D>>(shared.bias, in, plan.head, plan.first_position - key - (kTile - 1));
  commit_copies();
  wait_copies<0>();
  sync_block();
  Scores<D> scores;
  multiply(scores, queries, shared.keys, plan.at.lane);
  to_logits<D, true>(scores, rows, shared.bias + 16 * kBands<D> * plan.at.warp + kTile - 1, in.prior != nullptr,
                     shared.first_key + 16 * kBands<D> * plan.at.warp, key, plan.at);
  BAM_UNROLL
  for (int r = 0; r < Plan<D>::kCount; ++r) {
    float maximum = rows.maximum[r];
    BAM_UNROLL
    for (int n = 0; n < kColumns; ++n) {
      maximum = fmaxf(maximum, fmaxf(scores[r / 2][n][r % 2 * 2], scores[r / 2][n][r % 2 * 2 + 1]));
    }
    maximum = fmaxf(maximum, shuffle_xor(maximum, 1));
    rows.maximum[r] = fmaxf(maximum, shuffle_xor(maximum, 2));
  }
}

template <int D>
BAM_DEVICE void set_thresholds(Plan<D>& plan, const WarpRows<D>& rows) {
  BAM_UNROLL
  for (int r = 0; r < Plan<D>::kCount; ++r) {
    const int position = rows.first_position + 8 * r + plan.at.g;
    const float log2_keys = log2f(static_cast<float>(position - plan.first_key(r) + 1));
    const float slack = plan.magnitude[r] * kSlack<D>;
    plan.threshold[r] = plan.first_key(r) == kNoKey
                            ? INFINITY  // nobody asks
                            : rows.maximum[r] - log2_keys + plan.call->skip.log2_eps - slack - kLogSlack;
  }
}

// Sizes of the block's queries, and their parts.
template <int D>
BAM_DEVICE void prepare_queries(Plan<D>& plan, const WarpRows<D>& rows) {
  const Skip& skip = plan.call->skip;
  Shared<D>& shared = *plan.shared;
  const float largest_key = largest_key_of(skip, plan.batch * plan.call->args.in.kv_heads + plan.kv_head);
  BAM_UNROLL
  for (int r = 0; r < Plan<D>::kCount; ++r) {
    const int row = 16 * kBands<D> * plan.at.warp + 8 * r + plan.at.g;
    float size = 0.0F;
    for (int c = plan.at.t; c < D; c += 4) size += fabsf(widen(shared.queries[row * kStride<D> + c]));
    size += shuffle_xor(size, 1);
    size += shuffle_xor(size, 2);
    plan.size[r] = fabsf(rows.factor[r]);
    plan.magnitude[r] = size * plan.size[r] * largest_key;
    if (plan.at.t == 0) shared.negative[row] = rows.factor[r] < 0.0F;
  }
  sync_block();
  split_signs<D>(shared.parts, shared.queries, shared.negative, kRows<D>);
  sync_block();
}

// What no key could do, whatever its direction: for a local head that settles nearly everything.
template <int D>
BAM_DEVICE void leave_out_by_prior(Plan<D>& plan, const WarpRows<D>& rows) {
  Shared<D>& shared = *plan.shared;
  float worst = -INFINITY;
  float least_factor = INFINITY;
  float most_factor = -INFINITY;
  BAM_UNROLL
  for (int r = 0; r < Plan<D>::kCount; ++r) {
    if (plan.first_key(r) == kNoKey) continue;
    const float over = plan.magnitude[r] - plan.threshold[r] + 0.0F * rows.prior_factor[r];
    worst = fmaxf(worst, over == over ? over : INFINITY);  // a maximum passes NaN over
    least_factor = fminf(least_factor, rows.prior_factor[r]);
    most_factor = fmaxf(most_factor, rows.prior_factor[r]);
  }
  worst = max_of_warp(worst);
  least_factor = -max_of_warp(-least_factor);
  most_factor = max_of_warp(most_factor);
  if (plan.at.lane == 0) {
    shared.worst[plan.at.warp] = worst;
    shared.least_factor[plan.at.warp] = least_factor;
    shared.most_factor[plan.at.warp] = most_factor;
  }
  sync_block();
  for (int warp = 0; warp < kWarps; ++warp) {
    worst = fmaxf(worst, shared.worst[warp]);
    least_factor = fminf(least_factor, shared.least_factor[warp]);
    most_factor = fmaxf(most_factor, shared.most_factor[warp]);
  }
  for (int first = plan.begin / 32 * 32; first < plan.end; first += kThreads) {
    const int tile = first + static_cast<int>(threadIdx.x);
    bool unneeded = false;
    if (plan.is_in_question(tile)) {
      const PriorRange prior = prior_range(plan, tile);
      const float ends[4] = {least_factor * prior.high, least_factor * prior.low, most_factor * prior.high,
                             most_factor * prior.low};
      const float highest = fmaxf(fmaxf(ends[0], ends[1]), fmaxf(ends[2], ends[3]));
      const float sizes = fabsf(ends[0]) + fabsf(ends[1]) + fabsf(ends[2]) + fabsf(ends[3]);  // NaN if any is
      unneeded = worst + highest + sizes * (4.0F * kUnit) < 0.0F;
    }
    leave_out(plan, first + 32 * plan.at.warp, unneeded);
  }
  sync_block();
}

// How far the bounds of a chunk of 64 tiles are above the thresholds, at most over the rows, into excess[warp][tile]:
// negative where a tile may be left out. NaN, and what comes of infinities, forbids that.
template <int D>
BAM_DEVICE void measure(const Plan<D>& plan, const WarpRows<D>& rows, int chunk,
                        const Left<2 * D, kBands<D>, false>& parts) {
  const AttentionInputs& in = plan.call->args.in;
  const Skip& skip = plan.call->skip;
  Shared<D>& shared = *plan.shared;
  load_bounds<D>(shared.bounds, skip, plan.batch, in.kv_heads, plan.kv_head, chunk);
  const int own = static_cast<int>(threadIdx.x);
  if (own < kTile && plan.is_in_question(chunk + own)) {
    const PriorRange prior = prior_range(plan, chunk + own);
    shared.high[own] = prior.high;
    shared.low[own] = prior.low;
  }
  sync_block();
  Scores<D> products;
  multiply(products, parts, shared.bounds, plan.at.lane);
  BAM_UNROLL
  for (int n = 0; n < kColumns; ++n) {
    BAM_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int column = 8 * n + 2 * plan.at.t + e;
      float most = -INFINITY;
      BAM_UNROLL
      for (int r = 0; r < Plan<D>::kCount; ++r) {
        const float factor = rows.prior_factor[r];
        const float bias = factor * (factor < 0.0F ? shared.low[column] : shared.high[column]);
        const float room = fabsf(bias) * (4.0F * kUnit);
        const float content = products[r / 2][n][r % 2 * 2 + e] * plan.size[r];
        const float over = content + (bias + room) - plan.threshold[r];
        const bool asks = plan.first_key(r) != kNoKey;
        most = fmaxf(most, asks ? (over == over ? over : INFINITY) : -INFINITY);
      }
      most = fmaxf(most, shuffle_xor(most, 4));
      most = fmaxf(most, shuffle_xor(most, 8));
      most = fmaxf(most, shuffle_xor(most, 16));
      if (plan.at.g == 0) shared.excess[plan.at.warp][column] = most;
    }
  }
  sync_block();
}

// Leaves out what the bounds of the content allow; counts what is left and its best as seeds.
template <int D>
BAM_DEVICE void leave_out_by_content(Plan<D>& plan, const WarpRows<D>& rows,
                                     const Left<2 * D, kBands<D>, false>& parts) {
  Shared<D>& shared = *plan.shared;
  if (threadIdx.x == 0) shared.seeds.clear();
  for (int chunk = plan.begin / kTile * kTile; chunk < plan.end; chunk += kTile) {
    const int own = chunk + static_cast<int>(threadIdx.x);
    const bool undecided = threadIdx.x < kTile && plan.is_in_question(own) && plan.is_needed(own);
    if (!any_in_block(undecided)) continue;
    measure(plan, rows, chunk, parts);
    if (plan.at.warp < kTile / 32) {
      float excess = shared.excess[0][threadIdx.x];
      for (int warp = 1; warp < kWarps; ++warp) excess = fmaxf(excess, shared.excess[warp][threadIdx.x]);
      leave_out(plan, chunk + 32 * plan.at.warp, undecided && excess < 0.0F);
      sync_warp();
      shared.excess[0][threadIdx.x] = undecided && !(excess < 0.0F) ? excess : -INFINITY;
    }
    sync_block();
    if (threadIdx.x != 0) continue;
    for (int i = 0; i < kTile; ++i) {
      if (!(shared.excess[0][i] < 0.0F)) shared.seeds.offer(chunk + i, shared.excess[0][i]);
    }
  }
  sync_block();
}

template <int D>
BAM_KERNEL void BAM_BOUNDS(kThreads, 1) attention_plan_kernel(ForwardCall call) {
  const AttentionInputs& in = call.args.in;
  Shared<D>& shared = *reinterpret_cast<Shared<D>*>(shared_memory());
  Plan<D> plan{};
  plan.call = &call;
  plan.shared = &shared;
  plan.batch = blockIdx.z;
  plan.head = blockIdx.y;
  plan.kv_head = plan.head / (in.heads / in.kv_heads);
  const Index index = gridDim.x - 1 - blockIdx.x;  // the longest rows first
  const Index block = (plan.batch * in.heads + plan.head) * gridDim.x + index;
  plan.first = index * kRows<D>;
  plan.first_position = static_cast<int>(in.keys - in.queries + plan.first);
  const Index last = in.keys - in.queries + plan.first + kRows<D>;
  plan.last_position = static_cast<int>((last < in.keys ? last : in.keys) - 1);
  plan.first_keys = first_keys_of<kRows<D>>(in, plan.batch, plan.first);
  plan.needed = call.skip.needed + block * call.skip.words;
  plan.at = lane_of_thread();
  // The tile before the queries and those at the diagonal are always computed, and the first one: beginnings attract
  // attention.
  const int first_tile = plan.first_keys.lowest / kTile;
  const int diagonal = plan.first_position / kTile;
  plan.begin = first_tile + 1;
  plan.end = diagonal > 0 ? diagonal - 1 : 0;
  for (Index w = threadIdx.x; w < call.skip.words; w += kThreads) plan.needed[w] = 0xffffffffU;
  if (threadIdx.x == 0) call.skip.pairs[block] = 0;
  if (plan.end <= plan.begin) return;

  fetch_rows<D, kRows<D>>(shared.queries, in.q, plan.batch, in.queries, in.heads, plan.head, plan.first);
  commit_copies();
  copy_first_keys<D>(shared.first_key, in, plan.batch, plan.first);
  wait_copies<0>();
  sync_block();
  WarpRows<D> rows = describe_rows<D>(in, plan.batch, plan.head, plan.first, plan.at);
  prepare_queries(plan, rows);
  const int own_row = 16 * kBands<D> * plan.at.warp;
  Left<D, kBands<D>, false> queries;
  queries.take(shared.queries + own_row * kStride<D>, plan.at.lane);
  Left<2 * D, kBands<D>, false> parts;
  parts.take(shared.parts + own_row * kStride<2 * D>, plan.at.lane);
  score(plan, first_tile, rows, queries);
  for (int tile = plan.end; tile <= plan.last_position / kTile; ++tile) score(plan, tile, rows, queries);
  set_thresholds(plan, rows);
  leave_out_by_prior(plan, rows);
  leave_out_by_content(plan, rows, parts);
  if (shared.seeds.needed > 2 * kSeeds) {
    const int seeds = shared.seeds.count;
    for (int i = 0; i < seeds; ++i) score(plan, shared.seeds.tile[i], rows, queries);
    set_thresholds(plan, rows);
    sync_block();  // before seeds are looked for again
    leave_out_by_content(plan, rows, parts);
  }
  Index pairs = pairs_left_out(in, plan.needed, plan.batch, plan.first, kRows<D>, plan.begin, plan.end);
  for (int mask = 16; mask > 0; mask /= 2) pairs += shuffle_xor(pairs, mask);
  if (plan.at.lane == 0) shared.pairs[plan.at.warp] = pairs;
  sync_block();
  if (threadIdx.x != 0) return;
  for (int warp = 0; warp < kWarps; ++warp) call.skip.pairs[block] += shared.pairs[warp];
}

// A block per head.
BAM_KERNEL void shares_kernel(ForwardCall call, Index blocks) {
  const AttentionInputs& in = call.args.in;
  std::int64_t* const sums = reinterpret_cast<std::int64_t*>(shared_memory());  // by warp: skipped, visible
  const Index head = blockIdx.x;
  std::int64_t skipped = 0;
  std::int64_t visible = 0;
  if (call.skip.pairs != nullptr) {
    for (Index i = threadIdx.x; i < in.batch * blocks; i += kThreads) {
      skipped += call.skip.pairs[(i / blocks * in.heads + head) * blocks + i % blocks];
    }
    for (Index i = threadIdx.x; i < in.batch * in.queries; i += kThreads) {
      visible += in.keys - in.queries + i % in.queries - in.first_key[i] + 1;
    }
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    skipped += shuffle_xor(skipped, mask);
    visible += shuffle_xor(visible, mask);
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = skipped;
    sums[kWarps + threadIdx.x / 32] = visible;
  }
  sync_block();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) {
    skipped += sums[warp];
    visible += sums[kWarps + warp];
  }
  const double share = visible > 0 ? static_cast<double>(skipped) / static_cast<double>(visible) : 0.0;
  call.args.skipped[head] = static_cast<float>(share);
}

}  // namespace

bool plan_bounds(const AttentionForward& args, Skip& skip, Pieces& pieces) {
  const AttentionInputs& in = args.in;
  skip.key_blocks = ceil_div(in.keys, kTile);
  if (args.skip_eps <= 0 || args.key_bounds == nullptr || skip.key_blocks < kFewBlocks) return false;
  if (in.batch == 0 || in.heads == 0 || in.queries == 0) return false;
  skip.log2_eps = static_cast<float>(std::log2(args.skip_eps));
  skip.key_bounds = args.key_bounds;
  if (in.prior != nullptr) {
    skip.prior_blocks = ceil_div(std::min(in.distances, in.keys), kPriorBlock);
    skip.prior_high = pieces.take<float>(in.heads * skip.prior_blocks);
    skip.prior_low = pieces.take<float>(in.heads * skip.prior_blocks);
  }
  skip.magnitude_parts = ceil_div(skip.key_blocks, kMagnitudePart);
  skip.magnitudes = pieces.take<float>(in.batch * in.kv_heads * skip.magnitude_parts);
  return true;
}

std::size_t plan_skip(const AttentionForward& args, Index rows, ForwardCall& call) {
  const AttentionInputs& in = args.in;
  call = {};
  call.args = args;
  Skip& skip = call.skip;
  Pieces pieces(args.scratch);
  if (!plan_bounds(args, skip, pieces)) return 0;
  const Index blocks = in.batch * in.heads * ceil_div(in.queries, rows);
  skip.words = ceil_div(skip.key_blocks, 32);
  skip.needed = pieces.take<std::uint32_t>(blocks * skip.words);
  skip.pairs = pieces.take<Index>(blocks);
  return pieces.used();
}

void find_extremes(const ForwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  const auto heads = static_cast<unsigned>(in.heads);
  const auto batch = static_cast<unsigned>(in.batch);
  if (in.prior != nullptr) {
    launch(&prior_extremes_kernel, {static_cast<unsigned>(ceil_div(call.skip.prior_blocks, kThreads)), heads, 1},
           kThreads, 0, stream, call);
  }
  launch(&magnitudes_kernel,
         {static_cast<unsigned>(call.skip.magnitude_parts), static_cast<unsigned>(in.kv_heads), batch}, 32, 0, stream,
         call);
}

void find_needed(const ForwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  const auto heads = static_cast<unsigned>(in.heads);
  const auto batch = static_cast<unsigned>(in.batch);
  find_extremes(call, stream);
  for_dim(in.dim, [&]<int D>() {
    launch(&attention_plan_kernel<D>, {static_cast<unsigned>(ceil_div(in.queries, kRows<D>)), heads, batch}, kThreads,
           sizeof(Shared<D>), stream, call);
  });
}

void store_shares(const ForwardCall& call, Index blocks, void* stream) {
  const AttentionInputs& in = call.args.in;
  launch(&shares_kernel, {static_cast<unsigned>(in.heads), 1, 1}, kThreads, 2 * kWarps * sizeof(std::int64_t), stream,
         call, blocks);
}

}  // namespace bam::cuda::tensor
