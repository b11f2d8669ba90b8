// SentencePiece models, encoded and decoded by the SentencePiece library.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "text/tokenizer.h"

namespace bam::text {

// Which id begins a document: the model's own BOS or an added one, unless a special token is named by text or by id.
struct BosChoice {
  std::string piece;        // "" = not named
  std::optional<Token> id;  // as a shard or checkpoint has it
};

// `model` is the content of a .model file. Throws Error "SUBJECT: ..."; UsageError for a piece that is not special.
std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::string model, std::string name, const BosChoice& bos,
                                                        const std::string& subject);

}  // namespace bam::text
