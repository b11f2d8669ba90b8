#include "model/config.h"

#include "base/error.h"

namespace bam {

const NameTable<PositionalEncoding>& positional_encoding_names() {
  static const NameTable<PositionalEncoding> table = {{"nope", PositionalEncoding::nope},
                                                      {"sinusoidal", PositionalEncoding::sinusoidal},
                                                      {"rope", PositionalEncoding::rope},
                                                      {"alibi", PositionalEncoding::alibi},
                                                      {"bam", PositionalEncoding::bam}};
  return table;
}

const NameTable<Ssmax>& ssmax_names() {
  static const NameTable<Ssmax> table = {{"off", Ssmax::off}, {"content", Ssmax::content}, {"full", Ssmax::full}};
  return table;
}

const NameTable<PriorScope>& prior_scope_names() {
  static const NameTable<PriorScope> table = {{"layer", PriorScope::layer}, {"global", PriorScope::global}};
  return table;
}

void validate(const ModelConfig& config) {
  // Far above any model this is for, and low enough that no product of two sizes overflows.
  constexpr Index kLargest = Index{1} << 24;
  const std::pair<std::string_view, Index> sizes[] = {{"dim", config.dim},     {"layers", config.layers},
                                                      {"heads", config.heads}, {"kv_heads", config.kv_heads},
                                                      {"ffn", config.ffn},     {"vocab", config.vocab}};
  for (const auto& [name, size] : sizes) {
    if (size < 1 || size > kLargest) {
      throw Error("model: " + std::string(name) + " is " + std::to_string(size) + ", expected 1 to " +
                  std::to_string(kLargest));
    }
  }
  const auto refuse = [](const std::string& what) { throw Error("model: " + what); };
  if (config.dim % config.heads != 0) {
    refuse("dim " + std::to_string(config.dim) + " is not a multiple of heads " + std::to_string(config.heads));
  }
  if (config.heads % config.kv_heads != 0) {
    refuse("heads " + std::to_string(config.heads) + " is not a multiple of kv_heads " +
           std::to_string(config.kv_heads));
  }
  if (config.pe == PositionalEncoding::rope && config.head_dim() % 2 != 0) {
    refuse("rope rotates pairs, but dim / heads is " + std::to_string(config.head_dim()) + ", expected an even number");
  }
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> table = {
      {"tiny", 128, 2, 8, 256},    {"l6", 512, 6, 16, 1024},    {"l8", 768, 8, 16, 1536},    {"l12", 768, 12, 16, 1536},
      {"l15", 1152, 15, 24, 2304}, {"l18", 1536, 18, 32, 3072}, {"l24", 2048, 24, 64, 4096},
  };
  return table;
}

double training_flops_per_token(const ModelConfig& config, Index context) {
  const auto real = [](Index x) { return static_cast<double>(x); };
  const double kv_share = real(config.kv_heads) / real(config.heads);
  const double attention_matrices = real(config.dim) * real(config.dim) * (2 + 2 * kv_share);
  const double ffn_matrices = 3 * real(config.dim) * real(config.ffn);
  const double matrices =
      real(config.layers) * (attention_matrices + ffn_matrices) + real(config.vocab) * real(config.dim);
  return 6 * matrices + 12 * real(config.layers) * real(context) * real(config.dim) / 2;
}

}  // namespace bam
