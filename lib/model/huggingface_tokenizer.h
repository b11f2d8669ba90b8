// The tokenizer of a Hugging Face folder. For use inside this box.
#pragma once

#include <memory>
#include <string>

#include "model/huggingface.h"

namespace bam::huggingface {

// Written beside the tokenizer's own files: which of them they are, and which BOS is in use, so that an export comes
// back as it was.
inline constexpr const char* kTokenizerRecord = "bam_tokenizer.json";

// What the choice names, else what kTokenizerRecord says, else tokenizer.json, tokenizer.model or vocab.json; BOS is
// what the choice names, else, for the folder's own tokenizer, bos_token of tokenizer_config.json, else `bos_id`, else
// what the tokenizer itself says. Throws Error "FOLDER/FILE: ...": none there, not supported, more ids than `vocab`.
std::unique_ptr<text::Tokenizer> read_tokenizer_of(const std::string& folder, const ImportChoice& choice, Index vocab,
                                                   std::optional<Index> bos_id);

// The tokenizer's own files and the record; without `has_config` (the files of a folder came along) what transformers
// reads, too. Where that cannot be exact, a warning, and nothing that transformers takes for a tokenizer.
void write_tokenizer_to(io::OutputFolder& folder, const StoredTokenizer& stored, const text::Tokenizer& tokenizer,
                        bool has_config);

// A whole file, by io::OutputFile.
void write_file(io::OutputFolder& folder, const std::string& name, std::string_view bytes);

inline constexpr Index kMostJsonBytes = Index{64} << 20;

}  // namespace bam::huggingface
