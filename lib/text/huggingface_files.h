// What transformers reads of a tokenizer.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace bam::text {

// tokenizer_config.json, and tokenizer.json for a tokenizer that came in another format: the same ids there as here,
// and BOS before a text as before a document. (What came as a tokenizer.json puts before a text what that file says.)
// None where no tokenizer.json gives the same ids; `problem` then says why, and is empty otherwise.
std::vector<io::TokenizerFile> huggingface_files(const Tokenizer& tokenizer, std::string& problem);

}  // namespace bam::text
