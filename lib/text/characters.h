// Characters as tokenizers see them: classes of the Unicode character database (that of utf8proc), normal forms, and
// UTF-8 that is not.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bam::text {

// What split patterns tell apart: \p{L}, \p{N}, \r and \n, other \s (White_Space), and the rest.
enum class CharClass : unsigned char { other, letter, number, newline, blank };

// The class of every code point. Built once, at first use.
class CharClasses {
 public:
  static const CharClasses& get();

  CharClass of(char32_t character) const {
    return blocks_[block_of_[character >> kBlockBits]][character & (kBlockSize - 1)];
  }
  CharClass of_ascii(unsigned char byte) const { return blocks_[0][byte]; }

  // Of the character at the front of valid UTF-8, and its bytes.
  CharClass at(const char* text, std::size_t& bytes) const {
    const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
    const char32_t lead = byte(0);
    if (lead < 0x80) {
      bytes = 1;
      return of_ascii(static_cast<unsigned char>(lead));
    }
    if (lead < 0xE0) {
      bytes = 2;
      return of((lead & 0x1FU) << 6U | (byte(1) & 0x3FU));
    }
    if (lead < 0xF0) {
      bytes = 3;
      return of((lead & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU));
    }
    bytes = 4;
    return of((lead & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU));
  }

 private:
  static constexpr unsigned kBlockBits = 7;
  static constexpr std::size_t kBlockSize = std::size_t{1} << kBlockBits;
  using Block = std::array<CharClass, kBlockSize>;
  CharClasses();

  std::vector<std::uint16_t> block_of_;
  std::vector<Block> blocks_;  // the first is ASCII
};

// Whether \w of Rust's regex crate matches: Alphabetic, marks, decimal digits, connectors and the two joiners.
bool is_word_character(std::string_view character);

enum class NormalForm { nfc, nfd, nfkc, nfkd };

// `text` is valid UTF-8.
std::string normal_form(std::string_view text, NormalForm form);

// The text with U+FFFD for each maximal part that is not UTF-8, as the WHATWG encoding standard decodes it: E2 82 is
// one such part, FF FF are two.
std::string repaired_utf8(std::string_view bytes);

void append_utf8(std::string& text, char32_t character);

}  // namespace bam::text
