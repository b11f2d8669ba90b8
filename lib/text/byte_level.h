// Byte-level vocabularies: the characters that stand for bytes in GPT-2's files, and what the formats of such
// vocabularies have in common.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe_tokenizer.h"

namespace bam::text {

// The bytes that a text of such characters stands for; nothing if another character is in it. Printable Latin-1
// characters stand for their own bytes, U+0100 and up for the others in order.
std::optional<std::string> bytes_of_characters(std::string_view text);

std::string characters_of_bytes(std::string_view bytes);

// The ids of the 256 bytes among the pieces. Throws Error "SUBJECT: ..." where one is missing.
std::array<Token, 256> byte_symbols(const std::vector<BpePiece>& pieces, const std::string& subject);

}  // namespace bam::text
