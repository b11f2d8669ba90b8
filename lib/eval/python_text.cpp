#include "eval/python_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>

#include "text/utf8.h"

namespace bam::eval {
namespace {

constexpr char32_t kLargeDottedI = 0x130;  // the one letter whose small form is two code points

text::CodePoint next_character(std::string_view text) {
  const text::CodePoint point = text::first_code_point(text);
  if (point.bytes > 0) return point;
  return {0xFFFFFFFFU, 1};
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Bytes of the run of blanks at the front.
std::size_t blanks_at(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const text::CodePoint point = next_character(text.substr(size));
    if (!is_space(point.value)) break;
    size += point.bytes;
  }
  return size;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18));
    put(0x80U | ((c >> 12) & 0x3FU));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

char32_t small_letter(char32_t c) {
  return c > 0x10FFFF ? c : static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

char32_t title_letter(char32_t c) {
  return c > 0x10FFFF ? c : static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
}

void append_lower(std::string& out, std::string_view bytes, char32_t c) {
  const char32_t small = small_letter(c);
  if (c == kLargeDottedI) {
    out += "i\u0307";
  } else if (small == c) {
    out += bytes;
  } else {
    append_utf8(out, small);
  }
}

}  // namespace

Index characters(std::string_view text) {
  Index count = 0;
  for (std::size_t at = 0; at < text.size(); at += next_character(text.substr(at)).bytes) ++count;
  return count;
}

std::string_view strip(std::string_view text) {
  text.remove_prefix(blanks_at(text));
  return strip_end(text);
}

std::string_view strip_end(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint point = next_character(text.substr(at));
    at += point.bytes;
    if (!is_space(point.value)) end = at;
  }
  return text.substr(0, end);
}

std::vector<std::string_view> split_blanks(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blanks = blanks_at(text.substr(at));
    if (blanks == 0) {
      at += next_character(text.substr(at)).bytes;
      continue;
    }
    pieces.push_back(text.substr(begin, at - begin));
    begin = at += blanks;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

std::string lower(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const text::CodePoint point = next_character(text);
    append_lower(out, text.substr(0, point.bytes), point.value);
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string capitalize(std::string_view text) {
  if (text.empty()) return {};
  const text::CodePoint first = next_character(text);
  std::string out;
  if (const char32_t large = title_letter(first.value); large == first.value) {
    out += text.substr(0, first.bytes);
  } else {
    append_utf8(out, large);
  }
  return out + lower(text.substr(first.bytes));
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (;;) {
    const std::size_t at = text.find(from);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(at + from.size());
  }
}

std::string fill(std::string_view pattern, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string out;
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    out += pattern.substr(0, open);
    if (open == std::string_view::npos) return out;
    pattern.remove_prefix(open);
    const std::size_t close = std::min(pattern.find('}'), pattern.size() - 1);
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return value.first == pattern.substr(1, close - std::min<std::size_t>(close, 1));
    });
    const bool is_known = found != values.end();
    out += is_known ? found->second : pattern.substr(0, 1);
    pattern.remove_prefix(is_known ? close + 1 : 1);
  }
  return out;
}

std::string ascii_json(std::string_view text) {
  constexpr std::string_view kShort = "\"\"\\\\\bb\ff\nn\rr\tt";
  std::string out = "\"";
  const auto escape = [&out](std::uint32_t unit) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(unit >> shift) & 15U];
  };
  while (!text.empty()) {
    const text::CodePoint point = next_character(text);
    const auto c = static_cast<std::uint32_t>(point.bytes == 1 && point.value == 0xFFFFFFFFU ? 0xFFFD : point.value);
    std::size_t pair = 0;
    while (pair < kShort.size() && static_cast<std::uint32_t>(kShort[pair]) != c) pair += 2;
    if (pair < kShort.size()) {
      out += '\\';
      out += kShort[pair + 1];
    } else if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
    } else if (c >= 0x10000) {
      escape(0xD800 + ((c - 0x10000) >> 10));
      escape(0xDC00 + ((c - 0x10000) & 0x3FFU));
    } else {
      escape(c);
    }
    text.remove_prefix(point.bytes);
  }
  return out + '"';
}

}  // namespace bam::eval
