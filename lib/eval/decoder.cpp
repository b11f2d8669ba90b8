#include "eval/decoder.h"

#include <algorithm>

#include "base/error.h"

namespace bam::eval {
namespace {

TensorView positions(const Tensor& cache, Index first, Index count) {
  const Shape& s = cache.shape();
  return rows(cache.view().as({s[1], s[2], s[3]}), first, count).as({1, count, s[2], s[3]});
}

Index blocks_of(Index keys) {
  return (keys + kKeyBlock - 1) / kKeyBlock;
}

}  // namespace

Decoder::Decoder(const Model& model, Index capacity, Index chunk)
    : model_(model), capacity_(capacity), chunk_(std::min(chunk, capacity)), tables_(model, capacity, chunk_) {
  const ModelConfig& config = model.config();
  Backend& backend = model.backend();
  const auto real = [&](Shape shape) { return Tensor(backend, model.real(), shape); };
  const auto compute = [&](Shape shape) { return Tensor(backend, model.compute(), shape); };
  const Shape heads{1, chunk_, config.heads, config.head_dim()};
  const Shape cache{1, capacity_, config.kv_heads, config.head_dim()};
  const bool skips = model.skip_eps() > 0;
  const Shape bounds{1, blocks_of(capacity_), config.kv_heads, 2 * config.head_dim()};
  for (Index i = 0; i < config.layers; ++i) {
    layers_.push_back({compute(cache), compute(cache), skips ? real(bounds) : Tensor()});
  }
  if (skips) skipped_ = real({config.heads});
  ids_ = Tensor(backend, DType::i32, {1, chunk_});
  first_key_ = Tensor(backend, DType::i32, {1, chunk_});
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(chunk_), 0);
  backend.copy_in(first_key_.view(), {zeros.data(), DType::i32, {1, chunk_}});
  x_ = real({chunk_, config.dim});
  norm_ = compute({chunk_, config.dim});
  rstd_ = real({chunk_});
  q_ = compute(heads);
  attended_ = real(heads);
  if (model.compute() != model.real()) attended_product_ = compute(heads);
  lse_ = real({chunk_ * config.heads});
  gate_ = compute({chunk_, config.ffn});
  up_ = compute({chunk_, config.ffn});
  act_ = compute({chunk_, config.ffn});
  logits_ = real({1, config.vocab});
  last_.resize(static_cast<std::size_t>(config.vocab));
}

void Decoder::truncate(Index length) {
  if (length < 0 || length > length_) {
    throw Error("decoder: cannot keep " + std::to_string(length) + " of " + std::to_string(length_) + " positions");
  }
  length_ = length;
}

std::span<const double> Decoder::read(std::span<const std::int32_t> ids) {
  if (ids.empty() || length_ + std::ssize(ids) > capacity_) {
    throw Error("decoder: " + std::to_string(ids.size()) + " tokens at position " + std::to_string(length_) +
                ", made for " + std::to_string(capacity_));
  }
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), static_cast<std::size_t>(chunk_));
    read_chunk(ids.first(count), count == ids.size());
    ids = ids.subspan(count);
  }
  return last_;
}

void Decoder::read_chunk(std::span<const std::int32_t> ids, bool is_last) {
  const Index n = std::ssize(ids);
  Backend& backend = model_.backend();
  const TensorView held{ids_.view().data, DType::i32, {1, n}};
  backend.copy_in(held, {ids.data(), DType::i32, {1, n}});
  tables_.move_to(length_, n);
  backend.embedding_forward({held, model_.views().token_embedding, tables_.sinusoidal(),
                             rows(x_.view(), 0, n).as({1, n, model_.config().dim})});
  for (Index layer = 0; layer < model_.config().layers; ++layer) {
    const bool is_top = layer + 1 == model_.config().layers;
    run_layer(layer, n, is_top ? (is_last ? 1 : 0) : n);
  }
  length_ += n;
  if (!is_last) return;
  const TensorView hidden = rows(norm_.view(), 0, 1);
  backend.rmsnorm_forward({rows(x_.view(), n - 1, 1), model_.views().final_norm, model_.config().norm_eps, hidden,
                           rows(rstd_.view(), 0, 1)});
  backend.matmul({.a = hidden, .b = model_.product_views().lm_head, .c = logits_.view(), .transpose_b = true});
  backend.copy_out({last_.data(), DType::f64, logits_.shape()}, logits_.view());
}

void Decoder::run_layer(Index layer, Index n, Index queries) {
  const ModelConfig& config = model_.config();
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
  const auto heads = [&](const Tensor& tensor) -> TensorView {
    if (tensor.view().empty() || queries == 0) return {};
    return {tensor.view().data, tensor.view().dtype, {1, queries, config.heads, config.head_dim()}};
  };
  const TensorView x = rows(x_.view(), 0, n);
  project_qkv(model_, layer,
              {x, rows(norm_.view(), 0, n), rows(rstd_.view(), 0, n), heads(q_), positions(cache.k, length_, n),
               positions(cache.v, length_, n), tables_.rotary(), n - queries});
  const Index keys = length_ + n;
  TensorView bounds;
  if (!cache.bounds.view().empty()) {
    bounds = positions(cache.bounds, 0, blocks_of(keys));
    model_.backend().key_bounds({positions(cache.k, 0, keys), positions(cache.v, 0, keys), length_, bounds});
  }
  if (queries == 0) return;
  const TensorView x_queries = rows(x, n - queries, queries);
  attend(model_, layer,
         {.q = heads(q_),
          .k = positions(cache.k, 0, keys),
          .v = positions(cache.v, 0, keys),
          .prior = tables_.prior(layer),
          .first_key = TensorView{first_key_.view().data, DType::i32, {1, queries}},
          .attended = heads(attended_),
          .attended_product = heads(attended_product_),
          .lse = TensorView{lse_.view().data, model_.real(), {1, config.heads, queries}},
          .x = x_queries,
          .key_bounds = bounds,
          .skipped = skipped_.view()});
  const auto first = [queries](const Tensor& tensor) { return rows(tensor.view(), 0, queries); };
  feed_forward(model_, layer, {first(norm_), first(rstd_), first(gate_), first(up_), first(act_), x_queries});
}

}  // namespace bam::eval
