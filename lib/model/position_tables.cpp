#include "model/position_tables.h"

#include "prior/init.h"

namespace bam {
PositionTables::PositionTables(const Model& model, Index distances, Index positions) : model_(model) {
  const ModelConfig& config = model.config();
  Backend& backend = model.backend();
  const bool biased = config.pe == PositionalEncoding::bam || config.pe == PositionalEncoding::alibi;
  const bool by_layer = config.pe == PositionalEncoding::bam && config.prior_scope == PriorScope::layer;
  for (Index i = 0; biased && i < (by_layer ? config.layers : 1); ++i) {
    priors_.emplace_back(backend, model.real(), Shape{config.heads, distances});
  }
  if (config.pe == PositionalEncoding::rope)
    rotary_ = Tensor(backend, model.real(), {positions, config.head_dim() / 2, 2});
  if (config.pe == PositionalEncoding::sinusoidal) sinusoidal_ = Tensor(backend, model.real(), {positions, config.dim});
  if (config.pe == PositionalEncoding::alibi) backend.alibi_table({alibi_slopes(config.heads), priors_[0]});
  refresh();
}

void PositionTables::refresh() {
  if (model_.config().pe != PositionalEncoding::bam) return;
  for (std::size_t i = 0; i < priors_.size(); ++i) {
    const LayerParameters& layer = model_.views().layers[i];
    model_.backend().prior_table({layer.prior_shape, layer.prior_scale, layer.prior_loc, priors_[i]});
  }
}

void PositionTables::move_to(Index first, Index count) {
  if (first == first_ && count == count_) return;
  first_ = first;
  count_ = count;
  const ModelConfig& config = model_.config();
  if (config.pe == PositionalEncoding::rope) {
    const RotaryFrequencies frequencies = rotary_frequencies(config, model_.reading().rope_scaling);
    model_.backend().rotary_table({.inverse_frequency = frequencies.inverse,
                                   .first_position = first,
                                   .magnitude = frequencies.magnitude,
                                   .table = rows(rotary_.view(), 0, count)});
  }
  if (config.pe == PositionalEncoding::sinusoidal) {
    model_.backend().sinusoidal_table({first, config.sinusoidal_theta, rows(sinusoidal_.view(), 0, count)});
  }
}

ConstTensorView PositionTables::prior(Index layer) const {
  if (priors_.empty()) return {};
  return priors_[priors_.size() == 1 ? 0 : static_cast<std::size_t>(layer)];
}

ConstTensorView PositionTables::rotary() const {
  if (model_.config().pe != PositionalEncoding::rope) return {};
  return rows(rotary_.view(), 0, count_);
}

ConstTensorView PositionTables::sinusoidal() const {
  if (model_.config().pe != PositionalEncoding::sinusoidal) return {};
  return rows(sinusoidal_.view(), 0, count_);
}

}  // namespace bam
