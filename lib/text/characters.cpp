#include "text/characters.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "base/error.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

constexpr char32_t kCodePoints = 0x110000;

bool is_white_space(char32_t character) {
  return (character >= 0x09 && character <= 0x0D) || character == 0x20 || character == 0x85 || character == 0xA0 ||
         character == 0x1680 || (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
         character == 0x2029 || character == 0x202F || character == 0x205F || character == 0x3000;
}

CharClass classify(char32_t character) {
  if (character == '\r' || character == '\n') return CharClass::newline;
  if (is_white_space(character)) return CharClass::blank;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    default:
      return CharClass::other;
  }
}

// How many bytes at the front belong together although they are not UTF-8: a lead byte with as many continuation bytes
// as fit it, else one byte.
std::size_t ill_formed_bytes(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  std::size_t count = 1;
  while (count < length && count < bytes.size() && at(count) >= low && at(count) <= high) {
    low = 0x80;
    high = 0xBF;
    ++count;
  }
  return count;
}

// What a character may be that is not in the tables of utf8proc.
class CharacterSet {
 public:
  explicit CharacterSet(std::string_view pattern) {
    int code = 0;
    PCRE2_SIZE where = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF | PCRE2_ANCHORED,
                              &code, &where, nullptr));
    if (!code_) throw Error("PCRE2 of this system does not know " + std::string(pattern));
  }

  bool contains(std::string_view character) const {
    const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(pcre2_match_data_create(1, nullptr),
                                                                                   pcre2_match_data_free);
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(character.data()), character.size(), 0, 0, data.get(),
                       nullptr) >= 0;
  }

 private:
  std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code_{nullptr, pcre2_code_free};
};

}  // namespace

CharClasses::CharClasses() : block_of_(kCodePoints >> kBlockBits) {
  std::map<Block, std::uint16_t> known;
  for (char32_t first = 0; first < kCodePoints; first += kBlockSize) {
    Block block{};
    for (char32_t i = 0; i < kBlockSize; ++i) block[i] = classify(first + i);
    const auto [place, is_new] = known.emplace(block, static_cast<std::uint16_t>(blocks_.size()));
    if (is_new) blocks_.push_back(block);
    block_of_[first >> kBlockBits] = place->second;
  }
}

const CharClasses& CharClasses::get() {
  static const CharClasses classes;
  return classes;
}

bool is_word_character(std::string_view character) {
  static const CharacterSet characters("[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]");
  return characters.contains(character);
}

std::string normal_form(std::string_view text, NormalForm form) {
  unsigned options = UTF8PROC_STABLE;
  options |= form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t bytes =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (bytes < 0) throw Error(std::string("cannot normalise a text: ") + utf8proc_errmsg(bytes));
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(bytes)};
}

std::string repaired_utf8(std::string_view bytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string text(kReplacement.size() * bytes.size(), '\0');
  char* end = text.data();
  for (std::size_t at = 0; at < bytes.size();) {
    if (static_cast<unsigned char>(bytes[at]) < 0x80) {
      *end++ = bytes[at++];
      continue;
    }
    const std::string_view rest = bytes.substr(at);
    const CodePoint point = first_code_point(rest);
    const std::string_view kept = point.bytes > 0 ? rest.substr(0, point.bytes) : kReplacement;
    end = std::copy(kept.begin(), kept.end(), end);
    at += point.bytes > 0 ? point.bytes : ill_formed_bytes(rest);
  }
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

void append_utf8(std::string& text, char32_t character) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0U | character >> 6U);
    put(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    put(0xE0U | character >> 12U);
    put(0x80U | (character >> 6U & 0x3FU));
    put(0x80U | (character & 0x3FU));
  } else {
    put(0xF0U | character >> 18U);
    put(0x80U | (character >> 12U & 0x3FU));
    put(0x80U | (character >> 6U & 0x3FU));
    put(0x80U | (character & 0x3FU));
  }
}

}  // namespace bam::text
