#include <algorithm>
#include <array>

#include "model/huggingface.h"

namespace bam {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kNames = {
    {{"token_embedding", "model.embed_tokens.weight"},
     {"final_norm", "model.norm.weight"},
     {"lm_head", "lm_head.weight"},
     {"attn_norm", "input_layernorm.weight"},
     {"wq", "self_attn.q_proj.weight"},
     {"wk", "self_attn.k_proj.weight"},
     {"wv", "self_attn.v_proj.weight"},
     {"wo", "self_attn.o_proj.weight"},
     {"ssmax_scale", "self_attn.ssmax_scale"},
     {"prior_shape", "self_attn.prior_shape"},
     {"prior_scale", "self_attn.prior_scale"},
     {"prior_loc", "self_attn.prior_loc"},
     {"ffn_norm", "post_attention_layernorm.weight"},
     {"w_gate", "mlp.gate_proj.weight"},
     {"w_up", "mlp.up_proj.weight"},
     {"w_down", "mlp.down_proj.weight"}}};

std::string_view translated(std::string_view name) {
  for (const auto& [ours, theirs] : kNames) {
    if (ours == name) return theirs;
  }
  return name;
}

// place(row, rows of a head) is where a row goes within its head.
template <typename Place>
void move_rows(std::vector<float>& values, Index heads, Index columns, Place place) {
  const Index head_rows = std::ssize(values) / heads / columns;
  std::vector<float> moved(values.size());
  for (Index row = 0; row < heads * head_rows; ++row) {
    const Index to = row / head_rows * head_rows + place(row % head_rows, head_rows);
    std::copy_n(values.begin() + row * columns, columns, moved.begin() + to * columns);
  }
  values = std::move(moved);
}

}  // namespace

std::string huggingface_name(const std::string& parameter) {
  constexpr std::string_view kLayers = "layers/";
  if (!parameter.starts_with(kLayers)) {
    // A prior of all layers stands beside them.
    return parameter.starts_with("prior_") ? "model." + parameter : std::string(translated(parameter));
  }
  const std::size_t slash = parameter.find('/', kLayers.size());
  std::string name = "model.layers.";
  name.append(parameter, kLayers.size(), slash - kLayers.size()).append(".");
  return name.append(translated(std::string_view(parameter).substr(slash + 1)));
}

void split_rotary_pairs(std::vector<float>& values, Index heads, Index columns) {
  move_rows(values, heads, columns, [](Index row, Index rows) { return row % 2 * (rows / 2) + row / 2; });
}

void join_rotary_pairs(std::vector<float>& values, Index heads, Index columns) {
  move_rows(values, heads, columns, [](Index row, Index rows) {
    const Index half = rows / 2;
    return row < half ? 2 * row : 2 * (row - half) + 1;
  });
}

}  // namespace bam
