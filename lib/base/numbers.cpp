#include "base/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "base/error.h"

namespace bam {
namespace {

constexpr std::string_view kExamples = "512, 32k, 64Ki or 1e6";

// A decimal number before it is one: digits * 10^exponent * 2^doublings.
struct Decimal {
  Index digits = 0;
  Index exponent = 0;
  int doublings = 0;
};

enum class Fault { none, not_a_number, too_large, not_whole };

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool append_digit(Index& number, char digit) {
  return !__builtin_mul_overflow(number, Index{10}, &number) &&
         !__builtin_add_overflow(number, Index{digit - '0'}, &number);
}

// Takes the suffix off `text`.
bool take_suffix(std::string_view& text, Decimal& decimal) {
  const bool binary = text.ends_with('i');
  const std::string_view letters = binary ? "KMG" : "kMG";
  const std::string_view before = text.substr(0, text.size() - (binary ? 1 : 0));
  const std::size_t step = before.empty() ? std::string_view::npos : letters.find(before.back());
  if (step == std::string_view::npos) return !binary;
  if (binary) {
    decimal.doublings = 10 * static_cast<int>(step + 1);
  } else {
    decimal.exponent = 3 * static_cast<Index>(step + 1);
  }
  text = before.substr(0, before.size() - 1);
  return true;
}

// The digits with their point, without sign, suffix and exponent.
Fault read_digits(std::string_view text, Decimal& decimal) {
  bool seen_point = false;
  bool seen_digit = false;
  Index zeros = 0;  // not yet appended, so that 1.000...0 and 0.10 need no room for them
  for (const char c : text) {
    if (c == '.' && !seen_point) {
      seen_point = true;
      continue;
    }
    if (!is_digit(c)) return Fault::not_a_number;
    seen_digit = true;
    if (seen_point) --decimal.exponent;
    if (c == '0') {
      ++zeros;
      continue;
    }
    for (; zeros > 0 && decimal.digits != 0; --zeros) {
      if (!append_digit(decimal.digits, '0')) return Fault::too_large;
    }
    zeros = 0;
    if (!append_digit(decimal.digits, c)) return Fault::too_large;
  }
  decimal.exponent += zeros;
  return seen_digit && text.back() != '.' ? Fault::none : Fault::not_a_number;
}

Fault to_integer(Decimal decimal, bool negative, Index& result) {
  Index value = decimal.digits;
  if (value == 0) return Fault::none;
  for (int i = 0; i < decimal.doublings; ++i) {
    if (__builtin_mul_overflow(value, Index{2}, &value)) return Fault::too_large;
  }
  for (; decimal.exponent > 0; --decimal.exponent) {
    if (__builtin_mul_overflow(value, Index{10}, &value)) return Fault::too_large;
  }
  for (; decimal.exponent < 0; ++decimal.exponent) {
    if (value % 10 != 0) return Fault::not_whole;
    value /= 10;
  }
  result = negative ? -value : value;
  return Fault::none;
}

Fault read_integer(std::string_view text, Index& result) {
  result = 0;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  Decimal decimal;
  if (text.empty() || !take_suffix(text, decimal)) return Fault::not_a_number;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+') && !power.starts_with("+-")) power.remove_prefix(1);
    Index exponent = 0;
    const auto [end, code] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (code == std::errc::invalid_argument || end != power.data() + power.size()) return Fault::not_a_number;
    constexpr Index kBeyond = 1000;  // past it nothing changes, and sums cannot overflow
    decimal.exponent +=
        std::clamp(code == std::errc{} ? exponent : (power[0] == '-' ? -kBeyond : kBeyond), -kBeyond, kBeyond);
    text = text.substr(0, e);
  }
  const Fault fault = read_digits(text, decimal);
  return fault == Fault::none ? to_integer(decimal, negative, result) : fault;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string describe(IntegerRange range) {
  const bool has_low = range.low != IntegerRange{}.low;
  const bool has_high = range.high != IntegerRange{}.high;
  if (has_low && has_high) return "from " + std::to_string(range.low) + " to " + std::to_string(range.high);
  if (has_low) return "of at least " + std::to_string(range.low);
  if (has_high) return "of at most " + std::to_string(range.high);
  return "";
}

std::string describe(const RealRange& range) {
  const std::string low = (range.low_excluded ? "above " : "of at least ") + format_real(range.low);
  const std::string high = (range.high_excluded ? "below " : "of at most ") + format_real(range.high);
  const bool has_low = range.low != RealRange{}.low;
  const bool has_high = range.high != RealRange{}.high;
  if (has_low && has_high) return low + " and " + high;
  return has_low ? low : has_high ? high : "";
}

std::string with_space(const std::string& words) {
  return words.empty() ? words : " " + words;
}

[[noreturn]] void refuse_integer(std::string_view text, Fault fault, IntegerRange range) {
  std::string wrong = "is not a whole number";
  if (fault == Fault::none || fault == Fault::too_large) wrong = "is out of range";
  throw UsageError(quoted(text) + " " + wrong + ", expected a whole number" + with_space(describe(range)) + " (as " +
                   std::string(kExamples) + ")");
}

// Three significant figures, without an exponent.
std::string three_figures(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 400> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals).ptr;
  return {text.data(), end};
}

}  // namespace

Index parse_integer(std::string_view text, IntegerRange range) {
  Index value = 0;
  const Fault fault = read_integer(text, value);
  if (fault != Fault::none || value < range.low || value > range.high) refuse_integer(text, fault, range);
  return value;
}

Index parse_bytes(std::string_view text, IntegerRange range) {
  const std::string_view number = text.ends_with('B') ? text.substr(0, text.size() - 1) : text;
  Index value = 0;
  if (read_integer(number, value) != Fault::none || value < range.low || value > range.high) {
    throw UsageError(quoted(text) + " is not a size in bytes, expected a whole number" + with_space(describe(range)) +
                     " (as 4096, 500M or 4GiB)");
  }
  return value;
}

double parse_real(std::string_view text, RealRange range) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string expected = ", expected a real number" + with_space(describe(range));
  if (code == std::errc::result_out_of_range) throw UsageError(quoted(text) + " is out of range" + expected);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw UsageError(quoted(text) + " is not a real number" + expected);
  }
  const bool too_low = range.low_excluded ? value <= range.low : value < range.low;
  const bool too_high = range.high_excluded ? value >= range.high : value > range.high;
  if (too_low || too_high) throw UsageError(quoted(text) + " is out of range" + expected);
  return value;
}

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc{} && end == text.data() + text.size()) return value;
  return static_cast<std::uint64_t>(parse_integer(text, {.low = 0}));
}

Index Length::tokens(Index training_context) const {
  Index product = number;
  if (in_contexts && __builtin_mul_overflow(number, training_context, &product)) {
    throw UsageError("'" + format_length(*this) + "' of a training context of " + std::to_string(training_context) +
                     " tokens is out of range");
  }
  return product;
}

Length parse_length(std::string_view text, Index low) {
  const bool in_contexts = text.ends_with('x');
  Length length{0, in_contexts};
  const Fault fault = read_integer(in_contexts ? text.substr(0, text.size() - 1) : text, length.number);
  if (fault != Fault::none || length.number < low) {
    throw UsageError(quoted(text) + " is not a length, expected a whole number of at least " + std::to_string(low) +
                     " (as 512, 32k or 1e6), or 64x for 64 training contexts");
  }
  return length;
}

std::string format_real(double value) {
  std::array<char, 64> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

std::string format_length(const Length& length) {
  return std::to_string(length.number) + (length.in_contexts ? "x" : "");
}

std::string format_bytes(Index bytes) {
  const std::array<const char*, 4> suffixes{"", "Ki", "Mi", "Gi"};
  std::size_t step = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && step + 1 < suffixes.size(); ++step) bytes /= 1024;
  return std::to_string(bytes) + suffixes[step];
}

std::string human_count(double count) {
  if (!std::isfinite(count)) return format_real(count);
  if (count < 0) return std::string("-").append(human_count(-count));
  if (count < 999.5) return count == std::floor(count) ? format_real(count) : three_figures(count);
  const std::array<const char*, 4> suffixes{"k", "M", "G", "T"};
  std::size_t step = 0;
  for (count /= 1000; count >= 999.5 && step + 1 < suffixes.size(); ++step) count /= 1000;
  return three_figures(count) + suffixes[step];
}

std::string human_bytes(double bytes) {
  if (bytes < 1024) return format_real(std::floor(bytes)) + " B";
  const std::array<const char*, 4> suffixes{"KiB", "MiB", "GiB", "TiB"};
  std::size_t step = 0;
  for (bytes /= 1024; bytes >= 1023.5 && step + 1 < suffixes.size(); ++step) bytes /= 1024;
  return three_figures(bytes) + " " + suffixes[step];
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const Index s = static_cast<Index>(std::fmin(seconds + 0.5, 1e9));
  const auto two = [](Index large, const char* unit, Index small, const char* small_unit) {
    return std::to_string(large) + unit + (small < 10 ? "0" : "") + std::to_string(small) + small_unit;
  };
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return two(s / 60, "m", s % 60, "s");
  if (s < 86400) return two(s / 3600, "h", s % 3600 / 60, "m");
  return two(s / 86400, "d", s % 86400 / 3600, "h");
}

}  // namespace bam
