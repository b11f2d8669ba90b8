// SentencePiece models: BPE on our own merges, unigram and what else is rare by the SentencePiece library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/sentencepiece_model.h"
#include "text/special_tokens.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace bam::text {

struct SentencePieceChoice {
  BosChoice bos;
  bool allow_special = false;  // the text of a control piece is that piece
};

// `model` is the content of a .model file. Throws Error "SUBJECT: ..."; UsageError for a piece that is not special, and
// for special tokens in a text where the library encodes.
std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::string model, std::string name,
                                                        const SentencePieceChoice& choice, const std::string& subject);

// The same by the library, whatever the model: the oracle of the tests.
std::unique_ptr<Tokenizer> make_library_tokenizer(std::string model, std::string name,
                                                  const SentencePieceChoice& choice, const std::string& subject);

// Whether make_sentencepiece_bpe is for this model.
bool merges_by_ours(const SentencePieceModel& model);

std::unique_ptr<Tokenizer> make_sentencepiece_bpe(const SentencePieceModel& model, std::vector<io::TokenizerFile> files,
                                                  std::string name, const SentencePieceChoice& choice,
                                                  const std::string& subject);

// The merges of such a model; symbols from its number of pieces on are characters that are no pieces.
std::vector<Merge> sentencepiece_merges(const SentencePieceModel& model, const std::string& subject);

// With the special pieces, but without a BOS. Nothing where no tokenizer.json is known to give the same ids of every
// text; `problem` says why.
std::optional<TokenizerJson> sentencepiece_json(const SentencePieceModel& model, const std::string& subject,
                                                std::string& problem);

Fidelity fidelity_of(const SentencePieceModel& model);

}  // namespace bam::text
