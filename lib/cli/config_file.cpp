#include "base/byte_order_mark.h"
#include "cli/sources.h"
#include "io/stream.h"

namespace bam::cli::detail {
namespace {

constexpr Index kLargestConfig = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

}  // namespace

std::vector<ConfigLine> read_config(const std::string& path) {
  const std::string text = io::read_file(path, kLargestConfig);
  std::vector<ConfigLine> lines;
  Index number = 0;
  for (std::string_view rest = without_byte_order_mark(text); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(without_comment(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || key.empty()) {
      throw UsageError(io::input_name(path) + ":" + std::to_string(number) + ": '" + std::string(line) +
                       "' is not a setting, expected 'key = value'");
    }
    lines.push_back({number, std::string(key), std::string(trimmed(line.substr(equals + 1)))});
  }
  return lines;
}

}  // namespace bam::cli::detail
