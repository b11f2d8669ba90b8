// What a training step reads: windows of packed documents, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace bam {

inline constexpr std::int32_t kNotScored = -1;

// All arrays [windows, tokens], row by row.
struct Batch {
  Index windows = 0;
  Index tokens = 0;
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> targets;    // kNotScored or an id
  std::vector<std::int32_t> first_key;  // first visible position of each query, inside its window
};

// first_key of a row of ids: a document begins at each bos_id, and the row begins with the rest of one.
// `carried` is the first visible position of the document that the row begins in (0 for a row of its own; for a chunk
// that continues at `position`, the value of the last row before it). Positions count from `position` of ids[0].
void mark_documents(std::span<const std::int32_t> ids, std::int32_t bos_id, Index position, Index carried,
                    std::span<std::int32_t> first_key);

// Scored targets of a batch.
Index count_targets(const Batch& batch);

}  // namespace bam
