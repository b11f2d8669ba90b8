#include "model/huggingface_format.h"

#include <cstring>

namespace bam::huggingface {

const std::vector<std::string_view>& side_files() {
  static const std::vector<std::string_view> names = {
      "added_tokens.json", "chat_template.jinja",     "chat_template.json", "generation_config.json", "merges.txt",
      "tokenizer.json",    "special_tokens_map.json", "tokenizer.model",    "tokenizer_config.json",  "vocab.json"};
  return names;
}

std::vector<Index> dimensions(const Shape& shape) {
  std::vector<Index> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
  return dims;
}

Index rotated_heads(const ParameterInfo& info, const ModelConfig& config) {
  if (info.name.ends_with("/wq")) return config.heads;
  return info.name.ends_with("/wk") ? config.kv_heads : 0;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace bam::huggingface
