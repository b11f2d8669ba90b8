#include "model/batch.h"

#include <algorithm>

namespace bam {

void mark_documents(std::span<const std::int32_t> ids, std::int32_t bos_id, Index position, Index carried,
                    std::span<std::int32_t> first_key) {
  Index first = carried;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] == bos_id) first = position + static_cast<Index>(t);
    first_key[t] = static_cast<std::int32_t>(first);
  }
}

Index count_targets(const Batch& batch) {
  return std::count_if(batch.targets.begin(), batch.targets.end(), [](std::int32_t target) { return target >= 0; });
}

}  // namespace bam
