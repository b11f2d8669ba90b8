#include "model/parameters.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "prior/init.h"

namespace bam {
namespace {

// Parameters start at cache lines.
constexpr Index kAlignment = 16;

Index aligned(Index count) {
  return (count + kAlignment - 1) / kAlignment * kAlignment;
}

class Listing {
 public:
  void add(std::string name, Shape shape, ParameterRole role, bool trainable = true) {
    infos_.push_back({std::move(name), shape, role, trainable, offset_});
    offset_ += aligned(shape.count());
  }
  void add_prior(const std::string& prefix, const ModelConfig& config) {
    add(prefix + "prior_shape", {config.heads}, ParameterRole::prior_shape, config.train_shape);
    add(prefix + "prior_scale", {config.heads}, ParameterRole::prior_scale, config.train_scale);
    add(prefix + "prior_loc", {config.heads}, ParameterRole::prior_loc, config.train_loc);
  }
  std::vector<ParameterInfo> take() { return std::move(infos_); }

 private:
  std::vector<ParameterInfo> infos_;
  Index offset_ = 0;
};

void add_layer(Listing& list, const std::string& prefix, const ModelConfig& config) {
  const Index q_width = config.heads * config.head_dim();
  const Index kv_width = config.kv_heads * config.head_dim();
  list.add(prefix + "attn_norm", {config.dim}, ParameterRole::norm);
  list.add(prefix + "wq", {q_width, config.dim}, ParameterRole::matrix);
  list.add(prefix + "wk", {kv_width, config.dim}, ParameterRole::matrix);
  list.add(prefix + "wv", {kv_width, config.dim}, ParameterRole::matrix);
  list.add(prefix + "wo", {config.dim, q_width}, ParameterRole::matrix);
  if (config.has_prior_parameters() && config.prior_scope == PriorScope::layer) list.add_prior(prefix, config);
  if (config.ssmax != Ssmax::off) list.add(prefix + "ssmax_scale", {config.heads}, ParameterRole::ssmax_scale);
  list.add(prefix + "ffn_norm", {config.dim}, ParameterRole::norm);
  list.add(prefix + "w_gate", {config.ffn, config.dim}, ParameterRole::matrix);
  list.add(prefix + "w_up", {config.ffn, config.dim}, ParameterRole::matrix);
  list.add(prefix + "w_down", {config.dim, config.ffn}, ParameterRole::matrix);
}

// Lays out what is held; returns the size of the arena, which is never nothing.
Index lay_out(std::vector<ParameterInfo>& infos, const ParameterFilter& held) {
  Index size = 0;
  for (ParameterInfo& info : infos) {
    const bool takes_memory = !held || held(info);
    info.offset = takes_memory ? size : kNotHeld;
    if (takes_memory) size += aligned(info.shape.count());
  }
  return std::max(size, kAlignment);
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<float> initial_values(const ParameterInfo& info, const ModelConfig& config, std::uint64_t seed,
                                  std::uint64_t stream) {
  std::vector<float> values(static_cast<std::size_t>(info.shape.count()));
  const auto fill_normal = [&](double deviation) {
    Rng rng(seed, stream);
    for (float& value : values) value = static_cast<float>(deviation * rng.normal());
  };
  const auto fill_prior = [&](double HeadPrior::*field) {
    const auto priors = authors_prior(config.heads);
    for (std::size_t h = 0; h < values.size(); ++h) values[h] = static_cast<float>(priors[h].*field);
  };
  switch (info.role) {
    case ParameterRole::embedding:
      fill_normal(1.0);
      break;
    case ParameterRole::matrix: {
      // The products that write to the residual start smaller, so that its variance does not grow with depth.
      const bool writes_residual = ends_with(info.name, "/wo") || ends_with(info.name, "/w_down");
      const double depth = writes_residual ? std::sqrt(2.0 * static_cast<double>(config.layers)) : 1.0;
      fill_normal(0.6 / std::sqrt(static_cast<double>(info.shape[1])) / depth);
      break;
    }
    case ParameterRole::norm:
    case ParameterRole::ssmax_scale:
      values.assign(values.size(), 1.0F);
      break;
    case ParameterRole::prior_shape:
      fill_prior(&HeadPrior::shape);
      break;
    case ParameterRole::prior_scale:
      fill_prior(&HeadPrior::scale);
      break;
    case ParameterRole::prior_loc:
      fill_prior(&HeadPrior::loc);
      break;
  }
  return values;
}

}  // namespace

std::vector<ParameterInfo> list_parameters(const ModelConfig& config) {
  Listing list;
  list.add("token_embedding", {config.vocab, config.dim}, ParameterRole::embedding);
  if (config.has_prior_parameters() && config.prior_scope == PriorScope::global) list.add_prior("", config);
  for (Index i = 0; i < config.layers; ++i) add_layer(list, "layers/" + std::to_string(i) + "/", config);
  list.add("final_norm", {config.dim}, ParameterRole::norm);
  list.add("lm_head", {config.vocab, config.dim}, ParameterRole::matrix);
  return list.take();
}

Index count_parameters(const ModelConfig& config) {
  Index total = 0;
  for (const ParameterInfo& info : list_parameters(config)) total += info.shape.count();
  return total;
}

ParameterSet::ParameterSet(Backend& backend, const ModelConfig& config, DType dtype, const ParameterFilter& held)
    : infos_(list_parameters(config)), arena_(backend, dtype, {lay_out(infos_, held)}) {
  backend.fill_zero(arena_);
}

TensorView ParameterSet::operator[](std::size_t index) const {
  const ParameterInfo& info = infos_[index];
  if (info.offset == kNotHeld) return {};
  auto* start =
      static_cast<char*>(arena_.view().data) + static_cast<std::size_t>(info.offset) * size_of(arena_.view().dtype);
  return {start, arena_.view().dtype, info.shape};
}

TensorView ParameterSet::named(std::string_view name) const {
  for (std::size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == name) return (*this)[i];
  }
  return {};
}

ModelParameters views_of(const ParameterSet& set, const ModelConfig& config) {
  ModelParameters views;
  views.token_embedding = set.named("token_embedding");
  views.final_norm = set.named("final_norm");
  views.lm_head = set.named("lm_head");
  for (Index i = 0; i < config.layers; ++i) {
    const std::string prefix = "layers/" + std::to_string(i) + "/";
    const std::string prior_prefix = config.prior_scope == PriorScope::global ? "" : prefix;
    const auto own = [&](const char* name) { return set.named(prefix + name); };
    const auto prior = [&](const char* name) { return set.named(prior_prefix + name); };
    views.layers.push_back({own("attn_norm"), own("wq"), own("wk"), own("wv"), own("wo"), prior("prior_shape"),
                            prior("prior_scale"), prior("prior_loc"), own("ssmax_scale"), own("ffn_norm"),
                            own("w_gate"), own("w_up"), own("w_down")});
  }
  return views;
}

void initialise(const ParameterSet& set, const ModelConfig& config, Backend& backend, std::uint64_t seed) {
  for (std::size_t i = 0; i < set.infos().size(); ++i) {
    const ParameterInfo& info = set.infos()[i];
    const std::vector<float> values = initial_values(info, config, seed, i);
    backend.copy_in(set[i], {values.data(), DType::f32, info.shape});
  }
}

}  // namespace bam
