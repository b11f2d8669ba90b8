#include "model/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace bam {
namespace {

// [1, first..first+count, ...] of a cache with one text.
TensorView positions(const Tensor& cache, Index first, Index count) {
  const Shape& s = cache.shape();
  const TensorView cut = rows(cache.view().as({s[0] * s[1], s[2], s[3]}), first, count);
  return cut.as({1, count, s[2], s[3]});
}

Index blocks_of(Index keys) {
  return (keys + kKeyBlock - 1) / kKeyBlock;
}

}  // namespace

double reader_bytes(const ModelConfig& config, Products products, Index texts, Index capacity, Index chunk) {
  const auto real = [](Index x) { return static_cast<double>(x); };
  const double compute = products == Products::bf16 ? 2 : 4;
  const double kv_width = real(config.dim) * real(config.kv_heads) / real(config.heads);
  const bool biased = config.pe == PositionalEncoding::bam || config.pe == PositionalEncoding::alibi;
  const bool by_layer = config.pe == PositionalEncoding::bam && config.prior_scope == PriorScope::layer;
  const double cache = real(texts) * real(capacity) * 2 * kv_width * compute * real(config.layers);
  const double priors = biased ? (by_layer ? real(config.layers) : 1) * real(config.heads) * real(capacity) * 4 : 0;
  // An upper bound of what certified skipping keeps: two values a channel for 64 keys.
  const double bounds = real(texts) * real(blocks_of(capacity)) * 2 * kv_width * 4 * real(config.layers);
  const double row =
      4 * (2 * real(config.dim) + real(config.heads) + 5) + compute * (3 * real(config.dim) + 3 * real(config.ffn));
  return cache + bounds + priors + real(texts) * real(chunk) * row +
         real(head_rows(config, texts * chunk)) * real(config.vocab) * 4;
}

Reader::Reader(const Model& model, Index texts, Index capacity, Index chunk)
    : model_(model),
      texts_(texts),
      capacity_(capacity),
      chunk_(std::min(chunk, capacity)),
      tables_(model, capacity, std::min(chunk, capacity)) {
  const ModelConfig& config = model.config();
  Backend& backend = model.backend();
  const Index n = texts_ * chunk_;
  const auto real = [&](Shape shape) { return Tensor(backend, model.real(), shape); };
  const auto compute = [&](Shape shape) { return Tensor(backend, model.compute(), shape); };
  const Shape q_shape{texts_, chunk_, config.heads, config.head_dim()};
  const Shape cache_shape{texts_, capacity_, config.kv_heads, config.head_dim()};
  const bool skips = model.reading().skip_eps > 0;
  const Shape bounds_shape{texts_, blocks_of(capacity_), config.kv_heads, 2 * config.head_dim()};
  for (Index i = 0; i < config.layers; ++i) {
    layers_.push_back({compute(cache_shape), compute(cache_shape), skips ? real(bounds_shape) : Tensor()});
  }
  if (skips) skipped_ = real({config.heads});
  take_counts();
  ids_ = Tensor(backend, DType::i32, {texts_, chunk_});
  first_key_ = Tensor(backend, DType::i32, {texts_, chunk_});
  targets_ = Tensor(backend, DType::i32, {n});
  x_ = real({n, config.dim});
  norm_ = compute({n, config.dim});
  rstd_ = real({n});
  q_ = compute(q_shape);
  attended_ = real(q_shape);
  if (model.compute() != model.real()) attended_product_ = compute(q_shape);
  lse_ = real({n * config.heads});
  gate_ = compute({n, config.ffn});
  up_ = compute({n, config.ffn});
  act_ = compute({n, config.ffn});
  logits_ = real({head_rows(config, n), config.vocab});
  nll_ = real({n});
  hit_ = Tensor(backend, DType::i32, {n});
}

void Reader::truncate(Index length) {
  if (length < 0 || length > length_)
    throw Error("reader: cannot keep " + std::to_string(length) + " of " + std::to_string(length_) + " positions");
  length_ = length;
}

SkipCounts Reader::take_counts() {
  const auto heads = static_cast<std::size_t>(model_.config().heads);
  SkipCounts zeros{std::vector<double>(layers_.size()),
                   std::vector<std::vector<double>>(layers_.size(), std::vector<double>(heads))};
  return std::exchange(counts_, std::move(zeros));
}

// First keys under the reading rule's window.
std::span<const std::int32_t> Reader::narrowed(std::span<const std::int32_t> first_key, Index n) {
  const Index window = model_.reading().window;
  if (window == 0) return first_key;
  narrowed_.assign(first_key.begin(), first_key.end());
  for (std::size_t i = 0; i < narrowed_.size(); ++i) {
    const Index position = length_ + static_cast<Index>(i) % n;
    narrowed_[i] = std::max(narrowed_[i], static_cast<std::int32_t>(std::max<Index>(0, position - window + 1)));
  }
  return narrowed_;
}

Reader::Range Reader::scored_range(std::span<const std::int32_t> targets, Index n) const {
  if (texts_ > 1) return {0, n};
  const auto is_scored = [](std::int32_t target) { return target >= 0; };
  const auto first = std::find_if(targets.begin(), targets.end(), is_scored);
  if (first == targets.end()) return {0, 0};
  const auto last = std::find_if(targets.rbegin(), targets.rend(), is_scored);
  return {first - targets.begin(), (targets.rend() - last) - (first - targets.begin())};
}

Scores Reader::read(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
                    std::span<const std::int32_t> targets) {
  const Range scored = scored_range(targets, static_cast<Index>(ids.size()) / texts_);
  run_layers(ids, first_key, scored, nullptr);
  return score(scored, targets);
}

void Reader::observe(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
                     const AttentionObserver& observer) {
  if (texts_ != 1) throw Error("reader: made for " + std::to_string(texts_) + " texts, one can be observed");
  run_layers(ids, first_key, {0, static_cast<Index>(ids.size())}, &observer);
}

std::vector<double> Reader::next_logits(std::span<const std::int32_t> ids) {
  if (texts_ != 1 || ids.empty() || length_ + std::ssize(ids) > capacity_) {
    throw Error("reader: " + std::to_string(ids.size()) + " tokens at position " + std::to_string(length_) +
                ", made for " + std::to_string(texts_) + " texts of " + std::to_string(capacity_));
  }
  const std::vector<std::int32_t> first_key(static_cast<std::size_t>(chunk_), 0);
  Index count = 0;
  while (!ids.empty()) {
    const std::size_t n = std::min(ids.size(), static_cast<std::size_t>(chunk_));
    count = static_cast<Index>(n);
    const bool is_last = n == ids.size();
    run_layers(ids.first(n), std::span(first_key).first(n), is_last ? Range{count - 1, 1} : Range{}, nullptr);
    ids = ids.subspan(n);
  }
  Backend& backend = model_.backend();
  const TensorView hidden = rows(norm_.view(), 0, 1);
  const TensorView logits = rows(logits_.view(), 0, 1);
  backend.rmsnorm_forward({rows(x_.view(), count - 1, 1), model_.views().final_norm, model_.config().norm_eps, hidden,
                           rows(rstd_.view(), 0, 1)});
  backend.matmul({.a = hidden, .b = model_.product_views().lm_head, .c = logits, .transpose_b = true});
  std::vector<double> next(static_cast<std::size_t>(model_.config().vocab));
  backend.copy_out({next.data(), DType::f64, logits.shape}, logits);
  backend.synchronize();
  return next;
}

void Reader::run_layers(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key, Range last_queries,
                        const AttentionObserver* observer) {
  const auto n = static_cast<Index>(ids.size()) / texts_;
  const bool whole = length_ == 0 && n == capacity_;
  if (n < 1 || n > chunk_ || length_ + n > capacity_ || (texts_ > 1 && !whole)) {
    throw Error("reader: " + std::to_string(n) + " tokens at position " + std::to_string(length_) +
                ", made for chunks of " + std::to_string(chunk_) + " and " + std::to_string(capacity_) + " positions");
  }
  first_key = narrowed(first_key, n);
  Backend& backend = model_.backend();
  const Shape flat_shape{texts_ * n};
  backend.copy_in({ids_.view().data, DType::i32, flat_shape}, {ids.data(), DType::i32, flat_shape});
  backend.copy_in({first_key_.view().data, DType::i32, flat_shape}, {first_key.data(), DType::i32, flat_shape});
  tables_.move_to(length_, n);
  backend.embedding_forward({TensorView{ids_.view().data, DType::i32, {texts_, n}}, model_.views().token_embedding,
                             tables_.sinusoidal(),
                             rows(x_.view(), 0, texts_ * n).as({texts_, n, model_.config().dim})});
  for (Index layer = 0; layer < model_.config().layers; ++layer) {
    const bool last = layer + 1 == model_.config().layers;
    run_layer(layer, n, last ? last_queries : Range{0, n}, first_key, observer);
  }
  length_ += n;
}

// The bounds of all keys read so far, brought up to date with the n of this chunk; empty where nothing may be skipped.
ConstTensorView Reader::bound_keys(Index layer, Index n) {
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
  if (cache.bounds.view().empty()) return {};
  const Index keys = length_ + n;
  const bool alone = texts_ == 1;
  const TensorView bounds = alone ? positions(cache.bounds, 0, blocks_of(keys)) : cache.bounds.view();
  model_.backend().key_bounds({alone ? positions(cache.k, 0, keys) : cache.k.view(),
                               alone ? positions(cache.v, 0, keys) : cache.v.view(), length_, bounds});
  return bounds;
}

void Reader::count_pairs(Index layer, Range queries, std::span<const std::int32_t> first_key) {
  if (skipped_.view().empty()) return;  // what may not be skipped is not counted
  const auto i = static_cast<std::size_t>(layer);
  const auto n = static_cast<Index>(first_key.size()) / texts_;
  double visible = 0;
  for (Index text = 0; text < texts_; ++text) {
    for (Index t = queries.first; t < queries.first + queries.count; ++t) {
      visible += static_cast<double>(length_ + t - first_key[static_cast<std::size_t>(text * n + t)] + 1);
    }
  }
  counts_.visible[i] += visible;
  std::vector<double> shares(counts_.skipped[i].size());
  model_.backend().copy_out({shares.data(), DType::f64, skipped_.shape()}, skipped_);
  model_.backend().synchronize();
  for (std::size_t head = 0; head < shares.size(); ++head) counts_.skipped[i][head] += shares[head] * visible;
}

void Reader::run_layer(Index layer, Index n, Range queries, std::span<const std::int32_t> all_first_keys,
                       const AttentionObserver* observer) {
  const ModelConfig& config = model_.config();
  const Layer& cache = layers_[static_cast<std::size_t>(layer)];
  const auto at = [&](const Tensor& tensor, Index first, Index count) {
    return texts_ == 1 ? positions(tensor, first, count) : tensor.view();
  };
  const auto heads_view = [&](const Tensor& tensor) -> TensorView {
    if (tensor.view().empty() || queries.count == 0) return {};
    return {tensor.view().data, tensor.view().dtype, {texts_, queries.count, config.heads, config.head_dim()}};
  };
  const TensorView x = rows(x_.view(), 0, texts_ * n);
  project_qkv(model_, layer,
              {x, rows(norm_.view(), 0, texts_ * n), rows(rstd_.view(), 0, texts_ * n), heads_view(q_),
               at(cache.k, length_, n), at(cache.v, length_, n), tables_.rotary(), queries.first});
  if (observer != nullptr) {
    (*observer)({layer, length_, heads_view(q_), at(cache.k, 0, length_ + n), tables_.prior(layer)});
    if (layer + 1 == config.layers) return;  // nothing reads what would follow
  }
  ConstTensorView bounds = bound_keys(layer, n);
  if (queries.count == 0) return;
  const Index visible = length_ + queries.first + queries.count;
  const Index row_count = texts_ * queries.count;
  const TensorView x_queries = rows(x, queries.first, row_count);
  if (texts_ == 1 && !bounds.empty()) bounds = positions(cache.bounds, 0, blocks_of(visible));
  const ConstTensorView first_key{
      static_cast<const std::int32_t*>(first_key_.view().data) + queries.first, DType::i32, {texts_, queries.count}};
  attend(model_, layer,
         {heads_view(q_), at(cache.k, 0, visible), at(cache.v, 0, visible), tables_.prior(layer), first_key,
          heads_view(attended_), heads_view(attended_product_),
          TensorView{lse_.view().data, model_.real(), {texts_, config.heads, queries.count}}, x_queries, bounds,
          skipped_.view()});
  count_pairs(layer, queries, all_first_keys);
  feed_forward(model_, layer,
               {rows(norm_.view(), 0, row_count), rows(rstd_.view(), 0, row_count), rows(gate_.view(), 0, row_count),
                rows(up_.view(), 0, row_count), rows(act_.view(), 0, row_count), x_queries});
}

Scores Reader::score(Range range, std::span<const std::int32_t> targets) {
  Scores scores{std::vector<double>(targets.size(), 0.0), std::vector<std::int32_t>(targets.size(), 0)};
  if (range.count == 0) return scores;
  Backend& backend = model_.backend();
  const Index count = texts_ * range.count;
  const auto first = static_cast<std::size_t>(range.first);
  backend.copy_in({targets_.view().data, DType::i32, {count}}, {targets.data() + first, DType::i32, {count}});
  const TensorView hidden = rows(norm_.view(), 0, count);
  backend.rmsnorm_forward({rows(x_.view(), range.first, count), model_.views().final_norm, model_.config().norm_eps,
                           hidden, rows(rstd_.view(), 0, count)});
  for (Index row = 0; row < count; row += logits_.shape()[0]) {
    const Index slice_rows = std::min(logits_.shape()[0], count - row);
    const TensorView slice = rows(logits_.view(), 0, slice_rows);
    backend.matmul(
        {.a = rows(hidden, row, slice_rows), .b = model_.product_views().lm_head, .c = slice, .transpose_b = true});
    backend.cross_entropy({.logits = slice,
                           .targets = rows(targets_.view(), row, slice_rows),
                           .nll = rows(nll_.view(), row, slice_rows),
                           .hit = rows(hit_.view(), row, slice_rows)});
  }
  backend.copy_out({scores.nll_nats.data() + first, DType::f64, {count}}, rows(nll_.view(), 0, count));
  if (std::any_of(scores.nll_nats.begin(), scores.nll_nats.end(), [](double nll) { return std::isnan(nll); })) {
    throw Error("the model's logits are not numbers: are its weights damaged?");
  }
  backend.copy_out({scores.hit.data() + first, DType::i32, {count}}, rows(hit_.view(), 0, count));
  return scores;
}

}  // namespace bam
