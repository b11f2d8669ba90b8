#include "text/utf8.h"

#include <simdjson.h>

#include <algorithm>

namespace bam::text {
namespace {

std::size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

bool is_smaller_form_or_surrogate(char32_t value, std::size_t bytes) {
  if (bytes == 3) return value < 0x800 || (value >= 0xD800 && value < 0xE000);
  return bytes == 4 && (value < 0x10000 || value > 0x10FFFF);
}

}  // namespace

CodePoint first_code_point(std::string_view bytes) {
  if (bytes.empty()) return {};
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t length = length_by_lead(lead);
  if (length == 0 || length > bytes.size()) return {};
  if (length == 1) return {lead, 1};
  char32_t value = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(bytes[i])) return {};
    value = (value << 6U) | (static_cast<unsigned char>(bytes[i]) & 0x3FU);
  }
  if (is_smaller_form_or_surrogate(value, length)) return {};
  return {value, length};
}

bool is_utf8(std::string_view bytes) {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

void append_replaced(std::string_view text, std::string_view from, std::string_view to, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = std::min(text.find(from, at), text.size());
    out.append(text.substr(at, found - at));
    if (found < text.size()) out.append(to);
    at = found + from.size();
  }
}

}  // namespace bam::text
