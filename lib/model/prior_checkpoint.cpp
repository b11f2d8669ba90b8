#include "model/prior_checkpoint.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace bam {
namespace {

std::string prefix_of(const ModelConfig& config, Index layer) {
  return config.prior_scope == PriorScope::global ? "" : "layers/" + std::to_string(layer) + "/";
}

std::vector<float> read_heads(const io::CheckpointReader& reader, const std::string& name, Index heads) {
  const std::vector<float> values = reader.file().group("params").read<float>(name, {heads});
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw Error(reader.name() + ": /params/" + name + " holds values that are not finite, expected numbers");
  }
  return values;
}

std::vector<HeadPrior> read_layer(const io::CheckpointReader& reader, const ModelConfig& config, Index layer) {
  std::vector<HeadPrior> priors;
  if (config.pe == PositionalEncoding::alibi) return authors_prior(config.heads);
  if (config.pe == PositionalEncoding::nope) {
    return std::vector<HeadPrior>(static_cast<std::size_t>(config.heads), {.shape = 0, .scale = 0, .loc = 0});
  }
  const std::string prefix = prefix_of(config, layer);
  const auto shape = read_heads(reader, prefix + "prior_shape", config.heads);
  const auto scale = read_heads(reader, prefix + "prior_scale", config.heads);
  const auto loc = read_heads(reader, prefix + "prior_loc", config.heads);
  for (std::size_t h = 0; h < shape.size(); ++h) priors.push_back({shape[h], scale[h], loc[h]});
  return priors;
}

const std::vector<std::pair<ParameterRole, double HeadPrior::*>>& prior_fields() {
  static const std::vector<std::pair<ParameterRole, double HeadPrior::*>> fields = {
      {ParameterRole::prior_shape, &HeadPrior::shape},
      {ParameterRole::prior_scale, &HeadPrior::scale},
      {ParameterRole::prior_loc, &HeadPrior::loc}};
  return fields;
}

// The layer in "layers/3/wq"; 0 without one.
std::size_t layer_of(const std::string& name) {
  constexpr std::string_view kPrefix = "layers/";
  return name.starts_with(kPrefix) ? std::stoul(name.substr(kPrefix.size())) : 0;
}

// The new values of a parameter, or none where it stays.
std::vector<float> replaced(const ParameterInfo& info, const PriorParameters& parameters) {
  std::vector<float> values;
  const std::size_t layer = layer_of(info.name);
  for (const auto& [role, field] : prior_fields()) {
    if (info.role != role) continue;
    for (const HeadPrior& prior : parameters.heads[layer]) {
      values.push_back(static_cast<float>(prior.*field));
      if (std::isfinite(values.back())) continue;
      throw Error("/params/" + info.name + ": a value is beyond single precision, expected numbers below 3e38");
    }
  }
  if (info.role == ParameterRole::ssmax_scale && !parameters.ssmax_scale.empty()) {
    for (const double s : parameters.ssmax_scale[layer]) values.push_back(static_cast<float>(s));
  }
  return values;
}

}  // namespace

double ModelPriors::factor(Index layer, Index head, Index visible) const {
  if (config.ssmax != Ssmax::full) return 1;
  return ssmax_scale[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)] *
         std::log(static_cast<double>(visible));
}

ModelPriors read_priors(const io::CheckpointReader& reader) {
  const io::Hdf5File& file = reader.file();
  if (!file.has_attribute("format") || !file.has_group("params")) {
    throw Error(reader.name() + ": not a model, expected a checkpoint of bam-train");
  }
  ModelPriors priors{.config = read_config(file), .heads = {}, .ssmax_scale = {}};
  const ModelConfig& config = priors.config;
  const bool has_prior = config.pe != PositionalEncoding::rope && config.pe != PositionalEncoding::sinusoidal;
  for (Index layer = 0; layer < config.layers; ++layer) {
    if (has_prior) priors.heads.push_back(read_layer(reader, config, layer));
    if (config.ssmax == Ssmax::off) continue;
    const auto s = read_heads(reader, "layers/" + std::to_string(layer) + "/ssmax_scale", config.heads);
    priors.ssmax_scale.emplace_back(s.begin(), s.end());
  }
  return priors;
}

ModelConfig with_bam_prior(ModelConfig config) {
  if (config.pe == PositionalEncoding::bam) return config;
  config.pe = PositionalEncoding::bam;
  config.prior_scope = PriorScope::layer;
  return config;
}

void write_with_priors(io::Hdf5File& file, const io::CheckpointReader& reader, const ModelConfig& config,
                       const PriorParameters& parameters) {
  write_config(file, config);
  const StoredTokenizer tokenizer = read_tokenizer(reader.file());
  write_tokenizer(file, tokenizer.header, tokenizer.files);
  const io::Hdf5Group from = reader.file().group("params");
  io::Hdf5Group to = file.create_group("params");
  for (const ParameterInfo& info : list_parameters(config)) {
    std::vector<Index> dims;
    for (int axis = 0; axis < info.shape.rank(); ++axis) dims.push_back(info.shape[axis]);
    std::vector<float> values = replaced(info, parameters);
    if (values.empty()) values = from.read<float>(info.name, dims);
    to.write<float>(info.name, dims, values);
  }
}

void set_priors(Model& model, const std::vector<std::vector<HeadPrior>>& priors) {
  const ParameterSet& set = model.parameters();
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const std::vector<float> values = replaced(set.infos()[i], {priors, {}});
    if (!values.empty()) model.backend().copy_in(set[i], {values.data(), DType::f32, set.infos()[i].shape});
  }
}

PriorParameters get_priors(const Model& model) {
  const ModelConfig& config = model.config();
  const auto heads = static_cast<std::size_t>(config.heads);
  const std::size_t sets = config.prior_scope == PriorScope::global ? 1 : static_cast<std::size_t>(config.layers);
  PriorParameters result{.heads = {sets, std::vector<HeadPrior>(heads)}, .ssmax_scale = {}};
  if (config.ssmax != Ssmax::off) {
    result.ssmax_scale.assign(static_cast<std::size_t>(config.layers), std::vector<double>(heads));
  }
  const ParameterSet& set = model.parameters();
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const ParameterInfo& info = set.infos()[i];
    if (info.role < ParameterRole::prior_shape) continue;
    std::vector<double> values(heads);
    model.backend().copy_out({values.data(), DType::f64, info.shape}, set[i]);
    const std::size_t layer = layer_of(info.name);
    if (info.role == ParameterRole::ssmax_scale) result.ssmax_scale[layer] = values;
    for (const auto& [role, field] : prior_fields()) {
      for (std::size_t h = 0; info.role == role && h < heads; ++h) result.heads[layer][h].*field = values[h];
    }
  }
  return result;
}

}  // namespace bam
