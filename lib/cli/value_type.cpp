#include "cli/value_type.h"

namespace bam::cli {
namespace detail {

void refuse_word(std::string_view text, const std::vector<std::string>& words) {
  throw UsageError("'" + std::string(text) + "' is not a choice, expected " + join(words, ", "));
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined += between;
    joined += word;
  }
  return joined;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> elements;
  for (;;) {
    const std::size_t comma = text.find(',');
    elements.push_back(text.substr(0, comma));
    if (elements.back().empty()) throw UsageError("an element of the list is empty, expected values between commas");
    if (comma == std::string_view::npos) return elements;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace detail

namespace {

std::string format_index(const Index& value) {
  return std::to_string(value);
}

std::string same(const std::string& value) {
  return value;
}

std::string parse_text(std::string_view text) {
  if (text.empty()) throw UsageError("the value is empty");
  return std::string(text);
}

std::string parse_device(std::string_view text) {
  if (text == "cpu" || text == "cuda" || text == "auto" || text == "ref") return std::string(text);
  try {
    if (text.starts_with("cuda:")) {
      parse_integer(text.substr(5), {0, 4095});
      return std::string(text);
    }
  } catch (const UsageError&) {
    // falls through to the message that names the syntax
  }
  throw UsageError("'" + std::string(text) + "' is not a device, expected cpu, cuda, cuda:N, auto or ref");
}

}  // namespace

ValueType<Index> integer(IntegerRange range) {
  return {
      .metavar = "N", .parse = [range](std::string_view t) { return parse_integer(t, range); }, .format = format_index};
}

ValueType<Index> count(Index low) {
  return integer({.low = low});
}

ValueType<Index> bytes(Index low) {
  return {.metavar = "BYTES",
          .parse = [low](std::string_view t) { return parse_bytes(t, {low}); },
          .format = [](const Index& value) { return format_bytes(value); }};
}

ValueType<Length> length(Index low) {
  return {.metavar = "TOKENS",
          .parse = [low](std::string_view t) { return parse_length(t, low); },
          .format = format_length};
}

ValueType<double> real(RealRange range) {
  return {.metavar = "X", .parse = [range](std::string_view t) { return parse_real(t, range); }, .format = format_real};
}

ValueType<std::uint64_t> seed() {
  return {
      .metavar = "N", .parse = parse_seed, .format = [](const std::uint64_t& value) { return std::to_string(value); }};
}

ValueType<bool> yes_no() {
  return choice<bool>({{"yes", true}, {"no", false}});
}

ValueType<std::string> text() {
  return {.metavar = "TEXT", .parse = parse_text, .format = same};
}

ValueType<std::string> path(PathUse use) {
  return {.metavar = "FILE", .parse = parse_text, .format = same, .path_use = use};
}

ValueType<std::string> device() {
  return {
      .metavar = "cpu|cuda[:N]|auto", .parse = parse_device, .format = same, .words = {"cpu", "cuda", "auto", "ref"}};
}

}  // namespace bam::cli
