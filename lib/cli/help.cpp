#include "cli/render.h"
#include "cli/sources.h"

namespace bam::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kColumn = 28;  // where the sentences begin

// Words of `text`, broken into lines from kColumn to kWidth; the first line begins where `begun` characters stand.
std::string fill(std::string_view text, std::size_t begun) {
  std::string out;
  std::size_t at = begun;
  if (begun + 2 > kColumn) {
    out = "\n";
    at = 0;
  }
  out.append(kColumn - at, ' ');
  at = kColumn;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (at > kColumn && at + 1 + word.size() > kWidth) {
      out += "\n" + std::string(kColumn, ' ');
      at = kColumn;
    }
    if (at > kColumn) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out + "\n";
}

std::string entry(const std::string& left, const Option& option, const std::string& default_text) {
  std::string help = option.help;
  if (!default_text.empty()) help += " (default: " + default_text + ")";
  return left + fill(help, left.size());
}

std::string option_entry(const Option& option) {
  std::string left = option.letter != 0 ? std::string("  -") + option.letter + ", " : "      ";
  left += detail::long_form(option) + (option.metavar.empty() ? "" : " " + option.metavar);
  return entry(left, option, option.default_text);
}

}  // namespace

std::string help_text(const ToolInfo& info, const OptionTable& table) {
  const std::string operands = detail::operand_synopsis(table.operands());
  std::string out = info.name + " - " + info.purpose + "\n\n";
  out += "Usage: " + info.name + " [options]" + (operands.empty() ? "" : " " + operands) + "\n";
  if (!table.operands().empty()) out += "\n";
  for (const Operand& operand : table.operands()) out += entry("  " + operand.option.name, operand.option, "");
  for (const OptionGroup& group : table.groups()) {
    std::string entries;
    for (const Option& option : group.options) {
      if (!option.is_hidden) entries += option_entry(option);
    }
    if (!entries.empty()) out += "\n" + group.title + ":\n" + entries;
  }
  if (!info.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : info.examples) out += "  " + example.command + "\n      " + example.says + "\n";
  return out;
}

}  // namespace bam::cli
