#include "kernels/cuda/attention_backward.h"
#include "kernels/cuda/attention_plain.h"

namespace bam::cuda::plain {
namespace {

static_assert(kTile == kQueryTile);

// Shared memory of both kernels: a tile of the rows that a block keeps and one of those it goes over, in pairs (q and
// dout, k and v), and weights of the pairs [kTile][kWeightStride], twice.
struct Tiles {
  float *own[2], *other[2], *weights[2];
};
BAM_DEVICE Tiles carve(int dim) {
  float* const memory = reinterpret_cast<float*>(shared_memory());
  const int tile = kTile * row_stride(dim);
  float* const weights = memory + 4 * tile;
  return {{memory, memory + tile}, {memory + 2 * tile, memory + 3 * tile}, {weights, weights + kWeights}};
}
std::size_t backward_bytes(Index dim) {
  return static_cast<std::size_t>(4 * kTile * row_stride(dim) + 2 * kWeights) * sizeof(float);
}

// Of one pair of a query and a key.
struct Pair {
  float p, dl;
};
BAM_DEVICE Pair differentiate(const RowGradient& gradient, bool single, float product, float bias, float dout_v) {
  if (single) return {1.0F, 0.0F};
  const float p = probability(product * gradient.factor + bias * gradient.prior_factor, gradient.lse);
  return {p, p * (dout_v - gradient.delta)};
}

BAM_DEVICE float bias_of(const AttentionInputs& in, Index head, int distance) {
  return in.prior == nullptr ? 0.0F : in.prior[head * in.distances + distance];
}

// The range's table at the distances of a tile: thread n - 1 + kTile adds up the diagonal of column minus row n.
BAM_DEVICE void add_diagonals(const AttentionInputs& in, float* table, Index distances, const float* dl,
                              const float* row_weights, Index nearest) {
  const int n = static_cast<int>(threadIdx.x) - (kTile - 1);
  const Index distance = nearest + n;
  if (n >= kTile || distance < 0 || distance >= distances) return;
  float sum = 0.0F;
  for (int j = n < 0 ? -n : 0; j < kTile && j + n < kTile; ++j) {
    const float weight = in.scale_prior ? row_weights[j + n] : 1.0F;
    sum += dl[(j + n) * kWeightStride + j] * weight;
  }
  table[distance] += sum;
}

template <int kColumns>
BAM_KERNEL void plain_backward_queries_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  const int dim = static_cast<int>(in.dim);
  const Tiles tiles = carve(dim);
  float* const row_weights = tiles.weights[1];  // ln n, and at the end parts of the scale's sum
  const auto [row_index, part] = seat();
  const Index range = blockIdx.x;
  const Index head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index kv_head = head / (in.heads / in.kv_heads);
  const Index sums = (batch * in.heads + head) * call.ranges + range;
  float* const table = call.by_distance == nullptr ? nullptr : call.by_distance + sums * call.distances;
  if (table != nullptr) {
    for (Index n = threadIdx.x; n < call.distances; n += kThreads) table[n] = 0.0F;
  }
  double scale_sum = 0.0;
  for (Index k = 0; k * call.ranges * kTile < in.queries; ++k) {
    const Index first = tile_of_range(range, k, call.ranges) * kTile;
    if (first >= in.queries) break;
    const Index query = first + row_index;
    const Row row = describe_row(in, batch, head, query);
    const float log_keys = row.first_key == kNoKey ? 0.0F : static_cast<float>(log_visible(row));
    const RowGradient gradient =
        query < in.queries ? call.rows[row_index_of(in, batch, head, query)] : RowGradient{0.0F, 0.0F, 0.0F, 0.0F};
    sync_block();  // before the tiles are filled again
    load_tile(tiles.own[0], in.q, in.bf16, batch, in.queries, in.heads, head, first, dim);
    load_tile(tiles.own[1], call.args.dout, in.bf16, batch, in.queries, in.heads, head, first, dim);
    if (part == 0) row_weights[row_index] = log_keys;
    int lowest = kNoKey;
    for (Index t = first; t < first + kTile && t < in.queries; ++t) {
      const int first_key = in.first_key[batch * in.queries + t];
      lowest = first_key < lowest ? first_key : lowest;
    }
    const Index last = first + kTile < in.queries ? first + kTile : in.queries;
    float dq[kColumns] = {};
    for (Index key = lowest / kTile * kTile; key < last; key += kTile) {
      sync_block();
      load_tile(tiles.other[0], in.k, in.bf16, batch, in.keys, in.kv_heads, kv_head, key, dim);
      load_tile(tiles.other[1], in.v, in.bf16, batch, in.keys, in.kv_heads, kv_head, key, dim);
      sync_block();
      float products[kOwn];
      float dout_v[kOwn];
      multiply_rows(products, tiles.own[0] + row_index * row_stride(dim), tiles.other[0], part, dim);
      multiply_rows(dout_v, tiles.own[1] + row_index * row_stride(dim), tiles.other[1], part, dim);
      for (int u = 0; u < kOwn; ++u) {
        const int j = static_cast<int>(key) + part + 4 * u;
        float dl = 0.0F;
        if (is_visible(row, j)) {
          dl = differentiate(gradient, is_single(row), products[u], bias_of(in, head, row.position - j), dout_v[u]).dl;
        }
        tiles.weights[0][row_index * kWeightStride + part + 4 * u] = dl;
      }
      sync_block();
      for (int j = 0; j < kTile; ++j) {
        if (!is_visible(row, static_cast<int>(key) + j) || is_single(row)) continue;
        add_row(dq, tiles.weights[0][row_index * kWeightStride + j], tiles.other[0] + j * row_stride(dim), part, dim);
      }
      if (table != nullptr) add_diagonals(in, table, call.distances, tiles.weights[0], row_weights, first - key);
    }
    if (query >= in.queries) continue;
    const float root = 1.0F / sqrtf(static_cast<float>(dim));
    const auto z = static_cast<float>(static_cast<double>(gradient.factor) / kLog2e);
    const Index at = ((batch * in.queries + query) * in.heads + head) * in.dim;
    float dot = 0.0F;
    for (int e = 0; e < kColumns; ++e) {
      const int c = part + 4 * e;
      if (c >= dim) continue;
      store_value(call.args.dq, in.bf16, at + c, is_single(row) ? 0.0F : dq[e] * z);
      dot = fmaf(dq[e], tiles.own[0][row_index * row_stride(dim) + c], dot);
    }
    if (!is_single(row)) scale_sum += static_cast<double>(dot * root * log_keys);
  }
  if (call.scale_sums == nullptr) return;
  sync_block();
  double* const parts = reinterpret_cast<double*>(tiles.own[0]);
  parts[threadIdx.x] = scale_sum;
  sync_block();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads; ++i) scale_sum += parts[i];
  call.scale_sums[sums] = static_cast<float>(scale_sum);
}

template <int kColumns>
BAM_KERNEL void plain_backward_keys_kernel(BackwardCall call) {
  const AttentionInputs& in = call.args.in;
  const int dim = static_cast<int>(in.dim);
  const Tiles tiles = carve(dim);
  const auto [row_index, part] = seat();
  const Index first = static_cast<Index>(blockIdx.x) * kTile;
  const Index kv_head = blockIdx.y;
  const Index batch = blockIdx.z;
  const Index group = in.heads / in.kv_heads;
  const int key = static_cast<int>(first) + row_index;
  load_tile(tiles.own[0], in.k, in.bf16, batch, in.keys, in.kv_heads, kv_head, first, dim);
  load_tile(tiles.own[1], in.v, in.bf16, batch, in.keys, in.kv_heads, kv_head, first, dim);
  float dk[kColumns] = {};
  float dv[kColumns] = {};
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (Index query = first; query < in.queries; query += kTile) {
      int lowest = kNoKey;
      for (Index t = query; t < query + kTile && t < in.queries; ++t) {
        const int first_key = in.first_key[batch * in.queries + t];
        lowest = first_key < lowest ? first_key : lowest;
      }
      if (lowest >= first + kTile) continue;
      sync_block();
      load_tile(tiles.other[0], in.q, in.bf16, batch, in.queries, in.heads, head, query, dim);
      load_tile(tiles.other[1], call.args.dout, in.bf16, batch, in.queries, in.heads, head, query, dim);
      sync_block();
      float products[kOwn];
      float dout_v[kOwn];
      multiply_rows(products, tiles.own[0] + row_index * row_stride(dim), tiles.other[0], part, dim);
      multiply_rows(dout_v, tiles.own[1] + row_index * row_stride(dim), tiles.other[1], part, dim);
      for (int u = 0; u < kOwn; ++u) {
        const Index t = query + part + 4 * u;
        Pair pair{0.0F, 0.0F};
        if (t < in.queries && key <= t && key >= in.first_key[batch * in.queries + t]) {
          const RowGradient gradient = call.rows[row_index_of(in, batch, head, t)];
          const bool single = in.first_key[batch * in.queries + t] == t;
          const int distance = static_cast<int>(t) - key;
          pair = differentiate(gradient, single, products[u], bias_of(in, head, distance), dout_v[u]);
          if (!single) pair.dl *= static_cast<float>(static_cast<double>(gradient.factor) / kLog2e);
        }
        tiles.weights[0][row_index * kWeightStride + part + 4 * u] = pair.p;
        tiles.weights[1][row_index * kWeightStride + part + 4 * u] = pair.dl;
      }
      sync_warp();  // a row belongs to four threads of one warp
      for (int i = 0; i < kTile; ++i) {
        const Index t = query + i;
        if (t >= in.queries || key > t) continue;
        const int first_key = in.first_key[batch * in.queries + t];
        if (key < first_key) continue;
        add_row(dv, tiles.weights[0][row_index * kWeightStride + i], tiles.other[1] + i * row_stride(dim), part, dim);
        if (first_key == t) continue;
        add_row(dk, tiles.weights[1][row_index * kWeightStride + i], tiles.other[0] + i * row_stride(dim), part, dim);
      }
    }
  }
  if (key >= in.keys) return;
  const Index at = ((batch * in.keys + key) * in.kv_heads + kv_head) * in.dim;
  BAM_UNROLL
  for (int e = 0; e < kColumns; ++e) {
    if (part + 4 * e >= dim) continue;
    store_value(call.args.dk, in.bf16, at + part + 4 * e, dk[e]);
    store_value(call.args.dv, in.bf16, at + part + 4 * e, dv[e]);
  }
}

template <int kColumns>
void launch_queries(const BackwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  launch(&plain_backward_queries_kernel<kColumns>,
         {static_cast<unsigned>(call.ranges), static_cast<unsigned>(in.heads), static_cast<unsigned>(in.batch)},
         kThreads, backward_bytes(in.dim), stream, call);
}
template <int kColumns>
void launch_keys(const BackwardCall& call, void* stream) {
  const AttentionInputs& in = call.args.in;
  launch(&plain_backward_keys_kernel<kColumns>,
         {static_cast<unsigned>(ceil_div(in.keys, kTile)), static_cast<unsigned>(in.kv_heads),
          static_cast<unsigned>(in.batch)},
         kThreads, backward_bytes(in.dim), stream, call);
}

using Launcher = void (*)(const BackwardCall&, void*);

}  // namespace

void backward_queries(const BackwardCall& call, void* stream) {
  constexpr Launcher kLaunchers[] = {&launch_queries<8>, &launch_queries<16>, &launch_queries<32>, &launch_queries<64>};
  launcher_for(call.args.in.dim, kLaunchers)(call, stream);
}

void backward_keys(const BackwardCall& call, void* stream) {
  constexpr Launcher kLaunchers[] = {&launch_keys<8>, &launch_keys<16>, &launch_keys<32>, &launch_keys<64>};
  launcher_for(call.args.in.dim, kLaunchers)(call, stream);
}

}  // namespace bam::cuda::plain
