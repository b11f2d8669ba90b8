// The file formats of tokenizers other than SentencePiece's. Each takes the content of its files, and throws Error
// "SUBJECT: ..." for what it cannot read or follow to the letter.
#pragma once

#include <memory>
#include <string>

#include "text/special_tokens.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace bam::text {

struct FormatChoice {
  std::string name;
  std::string subject;
  BosChoice bos;
  bool allow_special = false;
};

// tokenizer.json of Hugging Face tokenizers; BPE, byte-level or with byte fallback.
std::unique_ptr<Tokenizer> make_huggingface(std::string json, const FormatChoice& choice);

// vocab.json (or encoder.json) and merges.txt (or vocab.bpe), as GPT-2 has them.
std::unique_ptr<Tokenizer> make_gpt2(std::string vocabulary, std::string merges, const FormatChoice& choice);

// The same, without a BOS, as a tokenizer.json has it.
TokenizerJson gpt2_json(const std::string& vocabulary, const std::string& merges, const std::string& subject);

// A rank file of tiktoken: base64 and rank on each line. Its pattern and special tokens are not in it; they are known
// for the published files (r50k_base, p50k_base, cl100k_base, o200k_base), which are recognised by their digests.
std::unique_ptr<Tokenizer> make_tiktoken(std::string ranks, const FormatChoice& choice);
TokenizerJson tiktoken_json(const std::string& ranks, const std::string& subject);

// The same for any ranks; `encoding` is one of those names.
std::unique_ptr<Tokenizer> make_tiktoken_as(const std::string& encoding, std::string ranks, const FormatChoice& choice);
TokenizerJson tiktoken_json_as(const std::string& encoding, const std::string& ranks, const std::string& subject);

}  // namespace bam::text
