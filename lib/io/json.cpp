#include "io/json.h"

#include <simdjson.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace bam::io {
namespace {

// Length of the UTF-8 sequence at the front of `text`, or 0 if it is none (overlong forms and surrogates are none).
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  return text.size() >= length && simdjson::validate_utf8(text.data(), length) ? length : 0;
}

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
  }
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    std::size_t length = 1;
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      append_escaped(out, byte);
    } else if (length = utf8_length(text); length > 0) {
      out += text.substr(0, length);
    } else {
      out += "\xEF\xBF\xBD";
      length = 1;
    }
    text.remove_prefix(length);
  }
  return out + '"';
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

void JsonWriter::separate() {
  const bool in_object = !open_.empty() && open_.back() == '{';
  if (in_object != has_key_) throw std::logic_error("JSON: a value inside an object needs a key, and nowhere else");
  if (open_.empty() && !text_.empty()) throw std::logic_error("JSON: a second value");
  if (!has_key_ && needs_comma_) text_ += ',';
  has_key_ = false;
  needs_comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  open_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket, char expected) {
  if (open_.empty() || open_.back() != expected || has_key_) throw std::logic_error("JSON: unbalanced brackets");
  open_.pop_back();
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  return open('{');
}

JsonWriter& JsonWriter::end_object() {
  return close('}', '{');
}

JsonWriter& JsonWriter::begin_array() {
  return open('[');
}

JsonWriter& JsonWriter::end_array() {
  return close(']', '[');
}

JsonWriter& JsonWriter::key(std::string_view name) {
  if (open_.empty() || open_.back() != '{' || has_key_) throw std::logic_error("JSON: a key outside an object");
  if (needs_comma_) text_ += ',';
  text_ += json_quote(name);
  text_ += ':';
  has_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  text_ += json_quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  separate();
  text_ += json_number(number);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  separate();
  text_ += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(std::nullptr_t) {
  separate();
  text_ += "null";
  return *this;
}

const std::string& JsonWriter::text() const {
  if (!open_.empty() || text_.empty()) throw std::logic_error("JSON: not finished");
  return text_;
}

}  // namespace bam::io
