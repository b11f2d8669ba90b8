// A byte is its own id; BOS (256) is added above. No EOS, no files.
#pragma once

#include <memory>

#include "text/tokenizer.h"

namespace bam::text {

std::unique_ptr<Tokenizer> make_bytes_tokenizer();

}  // namespace bam::text
