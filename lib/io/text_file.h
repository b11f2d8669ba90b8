// A whole text in memory.
#pragma once

#include <string>

#include "base/types.h"

namespace bam::io {

// The bytes of a text, plain or .zst or .gz; "-" is standard input. Throws Error for a file that is empty, a token
// shard or a checkpoint, and for more than `limit` bytes.
std::string read_text(const std::string& path, Index limit);

}  // namespace bam::io
