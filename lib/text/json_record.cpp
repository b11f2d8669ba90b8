#include "text/json_record.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <optional>

#include "io/json.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

// Thrown for what is no JSON, with what is wrong.
struct NotJson {
  const char* what;
};

constexpr std::size_t kMostDepth = 1024;
constexpr int kMostShown = 8;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

// Whether all of eight bytes are plain: none below 0x20, no quote, no backslash.
bool are_plain(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  const std::uint64_t quote = word ^ (kOnes * '"');
  const std::uint64_t backslash = word ^ (kOnes * '\\');
  const std::uint64_t found =
      ((word - kOnes * 0x20) & ~word) | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash);
  return (found & (kOnes * 0x80)) == 0;
}

bool is_high_half(std::uint32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}

bool is_low_half(std::uint32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

char* put_utf8(std::uint32_t value, char* out) {
  const auto tail = [&](unsigned shift) { *out++ = static_cast<char>(0x80U | ((value >> shift) & 0x3FU)); };
  if (value < 0x80) {
    *out++ = static_cast<char>(value);
  } else if (value < 0x800) {
    *out++ = static_cast<char>(0xC0U | (value >> 6U));
    tail(0);
  } else if (value < 0x10000) {
    *out++ = static_cast<char>(0xE0U | (value >> 12U));
    tail(6);
    tail(0);
  } else {
    *out++ = static_cast<char>(0xF0U | (value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
  return out;
}

// Bytes between quotes, whose escapes are known to be ones. Undone in place: what an escape stands for is never longer.
// A half of a surrogate pair becomes what is no UTF-8.
std::size_t undo_escapes(char* bytes, std::size_t size) {
  char* out = bytes;
  const char* at = bytes;
  const char* const end = bytes + size;
  const auto unit = [](const char* digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const auto c = static_cast<unsigned char>(digits[i]);
      value = value << 4U | (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10U);
    }
    return value;
  };
  while (at < end) {
    const void* found = std::memchr(at, '\\', static_cast<std::size_t>(end - at));
    const char* escape = found != nullptr ? static_cast<const char*>(found) : end;
    std::memmove(out, at, static_cast<std::size_t>(escape - at));
    out += escape - at;
    if (escape == end) break;
    at = escape + 2;
    switch (escape[1]) {
      case 'b':
        *out++ = '\b';
        break;
      case 'f':
        *out++ = '\f';
        break;
      case 'n':
        *out++ = '\n';
        break;
      case 'r':
        *out++ = '\r';
        break;
      case 't':
        *out++ = '\t';
        break;
      case 'u': {
        std::uint32_t value = unit(at);
        at += 4;
        if (is_high_half(value) && end - at >= 6 && at[0] == '\\' && at[1] == 'u' && is_low_half(unit(at + 2))) {
          value = 0x10000 + ((value - 0xD800) << 10U) + (unit(at + 2) - 0xDC00);
          at += 6;
        }
        out = put_utf8(value, out);
        break;
      }
      default:
        *out++ = escape[1];
    }
  }
  return static_cast<std::size_t>(out - bytes);
}

// A string between its quotes.
struct Quoted {
  std::size_t begin = 0;
  std::size_t size = 0;
  bool has_escapes = false;
};

class Scanner {
 public:
  // The byte behind the last, a NUL, is no part of any JSON: it ends every loop.
  Scanner(std::string& json, std::string_view field) : json_(json), field_(field), at_(json.data()) {}

  // Throws NotJson.
  std::string scan(std::string_view& text) {
    scan_value();
    blanks();
    if (at_ != json_.data() + json_.size()) fail();
    if (!problem_.empty()) return problem_;
    if (!found_) return missing();
    char* const begin = json_.data() + found_->begin;
    const std::size_t size = found_->has_escapes ? undo_escapes(begin, found_->size) : found_->size;
    text = {begin, size};
    // The bytes of the line were UTF-8 before.
    if (found_->has_escapes && !is_utf8(text)) return "a text with half of a surrogate pair, which is no text";
    return {};
  }

 private:
  [[noreturn]] static void fail(const char* what = kNotJson) { throw NotJson{what}; }

  void blanks() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r') ++at_;
  }

  // A value and what is in it, without recursion: what is nested deeply must not end the stack.
  void scan_value() {
    for (;;) {
      blanks();
      if (*at_ != '{' && *at_ != '[') {
        scan_scalar();
      } else if (open()) {
        continue;
      }
      while (depth_ > 0) {
        blanks();
        const bool in_object = is_object_[depth_ - 1];
        const char c = *at_++;
        if (c == ',') {
          if (in_object) scan_key();
          break;
        }
        if (c != (in_object ? '}' : ']')) fail();
        --depth_;
      }
      if (depth_ == 0) return;
    }
  }

  // True where a value must follow, false where the object or array is empty.
  bool open() {
    const bool is_object = *at_++ == '{';
    found_type(is_object ? "an object" : "an array");
    if (depth_ == kMostDepth) fail("JSON nested more than 1024 deep");
    is_object_[depth_++] = is_object;
    blanks();
    if (*at_ == (is_object ? '}' : ']')) {
      // The caller's loop takes the bracket.
      return false;
    }
    if (is_object) scan_key();
    return true;
  }

  void scan_key() {
    blanks();
    const Quoted key = scan_string();
    blanks();
    if (*at_++ != ':') fail();
    if (depth_ != 1) return;
    if (keys_ < kMostShown) shown_[static_cast<std::size_t>(keys_)] = key;
    ++keys_;
    is_wanted_ = key.has_escapes ? content(key) == field_ : raw(key) == field_;
  }

  void scan_scalar() {
    if (*at_ == '"') {
      const Quoted value = scan_string();
      if (is_wanted_ && !found_ && problem_.empty()) {
        found_ = value;
        is_wanted_ = false;
      } else {
        found_type("a string");
      }
    } else if (*at_ == '-' || is_digit(*at_)) {
      scan_number();
      found_type("a number");
    } else {
      scan_word();
    }
  }

  void scan_word() {
    for (const std::string_view word : {"true", "false", "null"}) {
      if (std::strncmp(at_, word.data(), word.size()) != 0) continue;
      at_ += word.size();
      return found_type(word == "null" ? "null" : "true or false");
    }
    fail();
  }

  void scan_number() {
    constexpr const char* kNotAllowed = "a number that JSON does not allow";
    const auto digits = [&] {
      if (!is_digit(*at_)) fail(kNotAllowed);
      while (is_digit(*at_)) ++at_;
    };
    if (*at_ == '-') ++at_;
    const bool is_zero = *at_ == '0';
    const char* const first = at_;
    digits();
    if (is_zero && at_ - first > 1) fail(kNotAllowed);
    if (*at_ == '.') {
      ++at_;
      digits();
    }
    if (*at_ == 'e' || *at_ == 'E') {
      ++at_;
      if (*at_ == '+' || *at_ == '-') ++at_;
      digits();
    }
  }

  Quoted scan_string() {
    if (*at_ != '"') fail();
    Quoted quoted;
    const char* const begin = ++at_;
    const char* const end = json_.data() + json_.size();
    for (;;) {
      while (end - at_ >= 8 && are_plain(at_)) at_ += 8;
      while (is_plain(*at_)) ++at_;
      if (*at_ == '"') break;
      if (*at_ != '\\') fail();
      quoted.has_escapes = true;
      scan_escape();
    }
    quoted.begin = static_cast<std::size_t>(begin - json_.data());
    quoted.size = static_cast<std::size_t>(at_ - begin);
    ++at_;
    return quoted;
  }

  void scan_escape() {
    constexpr std::string_view kKnown = "\"\\/bfnrt";
    constexpr std::string_view kHex = "0123456789abcdefABCDEF";
    const char c = *++at_;
    bool is_known = kKnown.find(c) != std::string_view::npos;
    if (c == 'u') {
      is_known = true;
      for (int i = 0; is_known && i < 4; ++i) {
        ++at_;
        is_known = kHex.find(*at_) != std::string_view::npos;
      }
    }
    if (!is_known) fail(*at_ == '\0' ? kNotJson : "a string with an unknown escape");
    ++at_;
  }

  // What a value is, where it is the whole line or the field that is wanted, and should be something else.
  void found_type(const char* type) {
    if (depth_ == 0) {
      if (std::string_view(type) != "an object") problem_ = std::string("not a JSON object but ") + type;
    } else if (is_wanted_) {
      is_wanted_ = false;
      if (!problem_.empty()) return;
      const std::string name = "field " + io::json_quote(field_);
      problem_ = found_ ? name + " twice" : name + " is " + type + ", expected a string";
    }
  }

  std::string_view raw(const Quoted& quoted) const { return std::string_view(json_).substr(quoted.begin, quoted.size); }

  std::string content(const Quoted& quoted) const {
    std::string bytes(raw(quoted));
    bytes.resize(undo_escapes(bytes.data(), bytes.size()));
    return bytes;
  }

  std::string missing() const {
    std::string names;
    for (int i = 0; i < std::min(keys_, kMostShown); ++i) {
      names += (names.empty() ? "" : ", ") + io::json_quote(content(shown_[static_cast<std::size_t>(i)]).substr(0, 40));
    }
    if (keys_ > kMostShown) names += ", ...";
    return "no field " + io::json_quote(field_) + (names.empty() ? " in an empty object" : "; it has " + names);
  }

  std::string& json_;
  std::string_view field_;
  const char* at_;
  std::bitset<kMostDepth> is_object_;  // of what is open
  std::size_t depth_ = 0;
  bool is_wanted_ = false;  // the value that comes next is that of the field
  std::optional<Quoted> found_;
  std::string problem_;  // of a line that is JSON
  std::array<Quoted, kMostShown> shown_{};
  int keys_ = 0;
};

}  // namespace

std::string take_json_text(std::string& json, std::string_view field, std::string_view& text) {
  text = {};
  if (!is_utf8(json)) return "not valid UTF-8";
  try {
    return Scanner(json, field).scan(text);
  } catch (const NotJson& problem) {
    return problem.what;
  }
}

}  // namespace bam::text
