#include "eval/attention_probe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bam::eval {
namespace {

// In place; returns ln sum exp.
double softmax(std::vector<double>& logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double& each : logits) {
    each = std::exp(each - largest);
    sum += each;
  }
  for (double& each : logits) each /= sum;
  return largest + std::log(sum);
}

std::vector<double> host_values(Backend& backend, const ConstTensorView& view) {
  std::vector<double> values(static_cast<std::size_t>(view.count()));
  if (!view.empty()) backend.copy_out({values.data(), DType::f64, view.shape}, view);
  return values;
}

}  // namespace

AttentionProbe::AttentionProbe(const LoadedModel& loaded, Index context, Index chunk)
    : loaded_(loaded), reader_(*loaded.model, 1, context, chunk) {
  layers_.resize(static_cast<std::size_t>(loaded.model->config().layers));
  heads_.resize(static_cast<std::size_t>(loaded.model->config().heads));
  std::iota(layers_.begin(), layers_.end(), Index{0});
  std::iota(heads_.begin(), heads_.end(), Index{0});
}

void AttentionProbe::choose(std::vector<Index> layers, std::vector<Index> heads) {
  layers_ = std::move(layers);
  heads_ = std::move(heads);
}

void AttentionProbe::read(std::span<const std::int32_t> ids, std::span<const Index> queries,
                          const AttentionVisitor& visit) {
  first_key_.resize(ids.size());
  mark_documents(ids, loaded_.tokenizer_header.bos_id, 0, 0, first_key_);
  reader_.truncate(0);
  while (reader_.length() < std::ssize(ids)) {
    const auto begin = static_cast<std::size_t>(reader_.length());
    const std::size_t count = std::min(static_cast<std::size_t>(reader_.chunk()), ids.size() - begin);
    const auto low = std::lower_bound(queries.begin(), queries.end(), static_cast<Index>(begin));
    const auto high = std::lower_bound(low, queries.end(), static_cast<Index>(begin + count));
    const std::span<const Index> here(low, high);
    reader_.observe(ids.subspan(begin, count), std::span(first_key_).subspan(begin, count),
                    [&](const AttentionInputs& inputs) { visit_layer(inputs, here, visit); });
  }
}

void AttentionProbe::visit_layer(const AttentionInputs& inputs, std::span<const Index> queries,
                                 const AttentionVisitor& visit) {
  if (queries.empty() || !std::binary_search(layers_.begin(), layers_.end(), inputs.layer)) return;
  const Model& model = *loaded_.model;
  const ModelConfig& config = model.config();
  Backend& backend = model.backend();
  q_ = host_values(backend, inputs.q);
  prior_ = host_values(backend, inputs.prior);
  ssmax_scale_ = host_values(backend, model.views().layers[static_cast<std::size_t>(inputs.layer)].ssmax_scale);
  k_.resize(static_cast<std::size_t>(inputs.k.count()));
  backend.copy_out({k_.data(), DType::f32, inputs.k.shape}, inputs.k);
  const Index sharing = config.heads / config.kv_heads;
  Index gathered = -1;
  for (const Index head : heads_) {
    if (head / sharing != gathered) gather_keys(gathered = head / sharing, inputs.k.shape);
    for (const Index query : queries) visit_row(inputs, head, query, visit);
  }
}

// The keys of one head, channel by channel, so that a query's logits are sums over whole rows.
void AttentionProbe::gather_keys(Index kv_head, const Shape& shape) {
  const auto keys = static_cast<std::size_t>(shape[1]);
  const auto stride = static_cast<std::size_t>(shape[2] * shape[3]);
  const auto d = static_cast<std::size_t>(shape[3]);
  const float* from = k_.data() + static_cast<std::size_t>(kv_head) * d;
  keys_by_channel_.resize(d * keys);
  for (std::size_t j = 0; j < keys; ++j) {
    for (std::size_t c = 0; c < d; ++c) keys_by_channel_[c * keys + j] = from[j * stride + c];
  }
}

void AttentionProbe::visit_row(const AttentionInputs& inputs, Index head, Index query, const AttentionVisitor& visit) {
  const ModelConfig& config = loaded_.model->config();
  const Index window = loaded_.model->reading().window;
  const auto d = static_cast<std::size_t>(config.head_dim());
  const auto h = static_cast<std::size_t>(head);
  Index first = first_key_[static_cast<std::size_t>(query)];
  if (window > 0) first = std::max(first, query - window + 1);
  const auto row = static_cast<std::size_t>((query - inputs.first_position) * config.heads + head);
  content_logits(std::span(q_).subspan(row * d, d), first, query);
  const std::size_t visible = scores_.size();
  const double z = config.ssmax == Ssmax::off ? 1.0 : ssmax_scale_[h] * std::log(static_cast<double>(visible));
  content_.assign(scores_.rbegin(), scores_.rend());
  for (double& each : content_) each *= z;
  position_.assign(visible, 0.0);
  if (!inputs.prior.empty()) {
    const double* prior = prior_.data() + h * static_cast<std::size_t>(inputs.prior.shape[1]);
    for (std::size_t t = 0; t < visible; ++t) position_[t] = prior[t] * (config.ssmax == Ssmax::full ? z : 1.0);
  }
  posterior_.resize(visible);
  for (std::size_t t = 0; t < visible; ++t) posterior_[t] = content_[t] + position_[t];
  const double ln_content = softmax(content_);
  const double ln_position = softmax(position_);
  const double ln_posterior = softmax(posterior_);
  visit({inputs.layer, head, query, content_, position_, posterior_, ln_posterior - ln_content - ln_position});
}

void AttentionProbe::content_logits(std::span<const double> q, Index first, Index query) {
  const auto begin = static_cast<std::size_t>(first);
  const std::size_t visible = static_cast<std::size_t>(query) + 1 - begin;
  const std::size_t keys = keys_by_channel_.size() / q.size();
  scores_.assign(visible, 0.0);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size()));
  for (std::size_t c = 0; c < q.size(); ++c) {
    const double factor = q[c] * scale;
    const double* channel = keys_by_channel_.data() + c * keys + begin;
    for (std::size_t j = 0; j < visible; ++j) scores_[j] += factor * channel[j];
  }
}

}  // namespace bam::eval
