// What a model is: sizes, positional encoding, softmax scaling. Written to every checkpoint, with these names.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"
#include "kernels/ops/attention.h"

namespace bam {

enum class PositionalEncoding : std::uint8_t { nope, sinusoidal, rope, alibi, bam };
enum class PriorScope : std::uint8_t { layer, global };

template <typename Enum>
using NameTable = std::vector<std::pair<std::string_view, Enum>>;

const NameTable<PositionalEncoding>& positional_encoding_names();
const NameTable<Ssmax>& ssmax_names();
const NameTable<PriorScope>& prior_scope_names();

// The name of an enumerator in its table.
template <typename Enum>
std::string_view name_in(const NameTable<Enum>& table, Enum value) {
  for (const auto& [name, entry] : table) {
    if (entry == value) return name;
  }
  return "?";
}

struct ModelConfig {
  Index dim = 128;
  Index layers = 2;
  Index heads = 8;
  Index kv_heads = 8;
  Index ffn = 256;
  Index vocab = 0;
  PositionalEncoding pe = PositionalEncoding::bam;
  Ssmax ssmax = Ssmax::full;
  PriorScope prior_scope = PriorScope::layer;
  double rope_theta = 500000;
  double sinusoidal_theta = 10000;
  double norm_eps = 1e-5;
  bool train_shape = true;  // which prior parameters learn (bam only)
  bool train_scale = true;
  bool train_loc = false;
  Index context = 0;  // tokens in a training window; 0 = not trained

  Index head_dim() const { return dim / heads; }
  bool has_prior_parameters() const { return pe == PositionalEncoding::bam; }
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

// Throws Error naming the first size that does not fit: every size positive, heads divide dim, kv_heads divide heads,
// an even head size under rope.
void validate(const ModelConfig& config);

// The authors' sizes, and `tiny`, the smallest one that shows the paper's result.
struct Preset {
  std::string_view name;
  Index dim, layers, heads, ffn;
};
const std::vector<Preset>& presets();

// Floating-point operations of training one token at context T, forward and backward:
// 6 x parameters in matrices (the embedding is looked up, not multiplied) + 12 L T (H d) / 2 for causal attention.
double training_flops_per_token(const ModelConfig& config, Index context);

}  // namespace bam
