// What import and export have in common. For use inside this box.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"

namespace bam::huggingface {

// The group of a checkpoint that remembers the folder it came from: the text `types`, "layers/0/wq BF16" on each line,
// and `files`, the folder's files that no model needs.
inline constexpr const char* kOrigin = "huggingface";

// Files that are carried along as they are.
const std::vector<std::string_view>& side_files();

std::vector<Index> dimensions(const Shape& shape);

// Heads whose rows a rotation would pair: those of wq and wk; 0 for every other parameter.
Index rotated_heads(const ParameterInfo& info, const ModelConfig& config);

bool same_bits(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace bam::huggingface
