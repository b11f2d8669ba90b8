// The parameters of a model in one arena, by name and by place. The same layout serves gradients and the optimizer's
// moments, so that a step walks arrays that lie alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "model/config.h"

namespace bam {

enum class ParameterRole : std::uint8_t { embedding, matrix, norm, prior_shape, prior_scale, prior_loc, ssmax_scale };

inline constexpr Index kNotHeld = -1;

struct ParameterInfo {
  std::string name;  // "layers/0/wq", as in a checkpoint
  Shape shape;
  ParameterRole role = ParameterRole::matrix;
  bool trainable = true;
  Index offset = 0;  // elements from the start of the arena; kNotHeld in a set that leaves it out

  bool decays() const { return shape.rank() == 2; }
};

// Every parameter of the configuration, in the order of the arena.
std::vector<ParameterInfo> list_parameters(const ModelConfig& config);

// Elements in all parameters together.
Index count_parameters(const ModelConfig& config);

// Says which parameters are meant; an empty one means all.
using ParameterFilter = std::function<bool(const ParameterInfo&)>;

class ParameterSet {
 public:
  // `held`: those that take memory. The others have empty views, at the places that they have in a full set.
  ParameterSet(Backend& backend, const ModelConfig& config, DType dtype, const ParameterFilter& held = {});

  const std::vector<ParameterInfo>& infos() const { return infos_; }
  TensorView operator[](std::size_t index) const;
  TensorView named(std::string_view name) const;    // empty when the model has no such parameter
  TensorView all() const { return arena_.view(); }  // with the zeros between parameters

 private:
  std::vector<ParameterInfo> infos_;
  Tensor arena_;
};

// One layer's views; those that the configuration lacks are empty.
struct LayerParameters {
  TensorView attn_norm, wq, wk, wv, wo;
  TensorView prior_shape, prior_scale, prior_loc, ssmax_scale;
  TensorView ffn_norm, w_gate, w_up, w_down;
};

struct ModelParameters {
  TensorView token_embedding, final_norm, lm_head;
  std::vector<LayerParameters> layers;  // with a global prior every layer has the same three prior views
};

ModelParameters views_of(const ParameterSet& set, const ModelConfig& config);

// Seeded initial values: embedding N(0,1), matrices N(0, 0.6/sqrt(columns)), wo and w_down divided by sqrt(2 layers),
// norms and ssmax_scale 1, priors as by authors_prior (set_priors changes them). The same on every machine, by
// parameter name order.
void initialise(const ParameterSet& set, const ModelConfig& config, Backend& backend, std::uint64_t seed);

}  // namespace bam
