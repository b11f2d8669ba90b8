#include "text/byte_level.h"

#include "base/error.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

bool stands_for_itself(char32_t byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

struct ByteCharacters {
  ByteCharacters() {
    char32_t next = 0x100;
    by_character.fill(-1);
    for (char32_t byte = 0; byte < 256; ++byte) {
      const char32_t character = stands_for_itself(byte) ? byte : next++;
      of_byte[byte] = character;
      by_character[character] = static_cast<int>(byte);
    }
  }
  std::array<char32_t, 256> of_byte{};
  std::array<int, 512> by_character{};
};

const ByteCharacters& table() {
  static const ByteCharacters characters;
  return characters;
}

}  // namespace

std::optional<std::string> bytes_of_characters(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.bytes == 0 || point.value >= table().by_character.size()) return std::nullopt;
    const int byte = table().by_character[point.value];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    text.remove_prefix(point.bytes);
  }
  return bytes;
}

std::string characters_of_bytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_utf8(text, table().of_byte[static_cast<unsigned char>(byte)]);
  return text;
}

std::array<Token, 256> byte_symbols(const std::vector<BpePiece>& pieces, const std::string& subject) {
  std::array<Token, 256> symbols;
  symbols.fill(-1);
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const BpePiece& piece = pieces[id];
    if (piece.role == PieceRole::text && piece.text.size() == 1) {
      symbols[static_cast<unsigned char>(piece.text[0])] = static_cast<Token>(id);
    }
  }
  for (std::size_t byte = 0; byte < symbols.size(); ++byte) {
    if (symbols[byte] < 0) {
      throw Error(subject + ": no token for the byte " + std::to_string(byte) + ", expected one for each of 256");
    }
  }
  return symbols;
}

}  // namespace bam::text
