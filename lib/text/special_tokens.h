// Special tokens, and which of them begins a document.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "io/shard.h"

namespace bam::text {

using io::Token;

struct SpecialToken {
  Token id = 0;
  std::string text;
};

// The model's own BOS or an added one, unless a special token is named by text or by id.
struct BosChoice {
  std::string piece;        // "" = not named
  std::optional<Token> id;  // as a shard or checkpoint has it
};

struct OwnBorders {
  std::optional<Token> bos, eos;
};

// The id that begins documents; `entries`, the number of ids of the model, for an added one. Throws UsageError for a
// text, and Error "SUBJECT: ..." for an id, that is not special, or that ends documents too: nobody could tell then
// where one begins.
Token choose_bos(const BosChoice& choice, const OwnBorders& own, const std::vector<SpecialToken>& special,
                 Index entries, const std::string& subject);

// With blanks for control characters.
std::string one_line(std::string text);

}  // namespace bam::text
