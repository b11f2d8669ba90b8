// What transformers wants beside, or in place of, a tokenizer's own files.
#pragma once

#include <vector>

#include "text/tokenizer.h"

namespace bam::text {

// tokenizer_config.json, and tokenizer.json for a tokenizer whose own files that library does not read (bytes). Texts
// begin with BOS there as documents do here.
std::vector<io::TokenizerFile> huggingface_files(const Tokenizer& tokenizer);

}  // namespace bam::text
