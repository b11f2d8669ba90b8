// UTF-8, one code point at a time, strict: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace bam::text {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0 when the bytes are not UTF-8
};

// At the front of `bytes`; also 0 bytes when `bytes` ends before the code point does.
CodePoint first_code_point(std::string_view bytes);

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

bool is_utf8(std::string_view bytes);

// `text` with `to` wherever `from` stands, which is not empty, from left to right.
void append_replaced(std::string_view text, std::string_view from, std::string_view to, std::string& out);

}  // namespace bam::text
