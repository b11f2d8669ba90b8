#include "cli/options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "cli/sources.h"
#include "io/stream.h"

namespace bam::cli {
namespace {

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string environment_name(const Option& option) {
  std::string name = "BAM_";
  for (const char c : option.name) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

// `label` is what messages call the option: --context, BAM_CONTEXT, train.conf:3: context.
void set(Option& option, const std::vector<std::string>& texts, Source source, const std::string& label) {
  if (texts.size() > 1 && !option.repeats) throw UsageError(label + ": given twice, expected once");
  if (std::find(texts.begin(), texts.end(), "") != texts.end()) {
    throw UsageError(label + ": the value is empty, expected " + (option.is_flag ? "yes or no" : option.metavar));
  }
  try {
    option.assign(texts);
    option.texts = texts;
  } catch (const Error& error) {
    throw UsageError(label + ": " + error.what());
  }
  option.source = source;
}

void set_from_environment(std::deque<OptionGroup>& groups) {
  for (OptionGroup& group : groups) {
    for (Option& option : group.options) {
      if (option.is_action) continue;
      const std::string name = environment_name(option);
      const char* text = std::getenv(name.c_str());
      // An empty variable is as good as none: BAM_THREADS=$UNSET.
      if (text != nullptr && *text != '\0') set(option, {text}, Source::environment, name);
    }
  }
}

void set_from_config(OptionTable& table, const std::string& path) {
  std::map<Option*, std::vector<std::string>> given;
  for (const detail::ConfigLine& line : detail::read_config(path)) {
    const std::string label = io::input_name(path) + ":" + std::to_string(line.number) + ": " + line.key;
    Option* option = table.find(line.key);
    if (option == nullptr || option->is_action || option->name == "config") {
      throw UsageError(label + ": " + detail::unknown_option(table, line.key, ""));
    }
    given[option].push_back(line.value);
    set(*option, given[option], Source::config, label);
  }
}

void set_operands(std::vector<Operand>& operands, std::vector<std::string> words, bool all_needed) {
  auto next = words.begin();
  for (Operand& operand : operands) {
    const std::size_t rest = static_cast<std::size_t>(words.end() - next);
    if (rest < operand.at_least && all_needed) {
      throw UsageError(operand.option.name + " is missing, expected " + detail::operand_synopsis(operands));
    }
    const std::size_t taken = std::min(rest, operand.at_most);
    if (taken == 0) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(taken);
    set(operand.option, {next, end}, Source::command_line, operand.option.name);
    next = end;
  }
  if (next != words.end()) {
    const std::string names = detail::operand_synopsis(operands);
    throw UsageError("'" + *next + "' is one operand too many, expected " + (names.empty() ? "none" : names));
  }
}

}  // namespace

namespace detail {

std::string long_form(const Option& option) {
  return "--" + option.name;
}

std::string operand_synopsis(const std::vector<Operand>& operands) {
  std::string names;
  for (const Operand& operand : operands) {
    const std::string shown = operand.option.name + (operand.at_most > 1 ? "..." : "");
    names += (names.empty() ? "" : " ") + (operand.at_least == 0 ? "[" + shown + "]" : shown);
  }
  return names;
}

std::string unknown_option(const OptionTable& table, std::string_view name, std::string_view dashes) {
  const std::string nearest = table.nearest(name);
  if (nearest.empty()) return "unknown option, expected one of those that --help shows";
  return "unknown option, did you mean " + std::string(dashes) + nearest + "?";
}

}  // namespace detail

OptionGroup& OptionGroup::insert(Option option) {
  if (const std::size_t comma = option.name.find(','); comma != std::string::npos) {
    option.letter = option.name.at(comma + 1);
    option.name.resize(comma);
  }
  options.push_back(std::move(option));
  return *this;
}

OptionGroup& OptionGroup::flag(std::string name, bool& field, std::string help) {
  Option option = detail::bind(std::move(name), field, yes_no(), "", std::move(help));
  option.is_flag = true;
  return insert(std::move(option));
}

OptionGroup& OptionGroup::action(std::string name, bool& field, std::string help) {
  flag(std::move(name), field, std::move(help));
  options.back().is_action = true;
  options.back().default_text.clear();
  return *this;
}

OptionGroup& OptionTable::group(std::string_view title) {
  for (OptionGroup& group : groups_) {
    if (group.title == title) return group;
  }
  return groups_.emplace_back(std::string(title));
}

void OptionTable::parse(int argc, const char* const* argv) {
  const detail::CommandLine line = detail::read_command_line(*this, argc, argv);
  const bool is_action =
      std::any_of(line.options.begin(), line.options.end(), [](const auto& given) { return given.first->is_action; });
  std::map<Option*, std::vector<std::string>> given;
  for (const auto& [option, text] : line.options) given[option].push_back(text);
  if (!is_action) {
    set_from_environment(groups_);
    if (Option* config = find("config"); config != nullptr) {
      if (given.contains(config)) set(*config, given[config], Source::command_line, "--config");
      if (config->source != Source::defaults) set_from_config(*this, config->current());
    }
  }
  for (const auto& [option, text] : line.options) {
    set(*option, given[option], Source::command_line, detail::long_form(*option));
  }
  set_operands(operands_, line.operands, !is_action);
}

const Option* OptionTable::find(std::string_view name) const {
  for (const OptionGroup& group : groups_) {
    for (const Option& option : group.options) {
      if (option.name == name) return &option;
    }
  }
  return nullptr;
}

Option* OptionTable::find(std::string_view name) {
  return const_cast<Option*>(std::as_const(*this).find(name));
}

bool OptionTable::is_set(std::string_view name) const {
  const Option* option = find(name);
  if (option == nullptr) throw std::logic_error("no option of this name: " + std::string(name));
  return option->source != Source::defaults;
}

std::vector<EffectiveValue> OptionTable::values() const {
  std::vector<EffectiveValue> all;
  for (const OptionGroup& group : groups_) {
    for (const Option& option : group.options) {
      if (!option.is_action) all.push_back({option.name, option.current(), option.source});
    }
  }
  return all;
}

std::string OptionTable::nearest(std::string_view name) const {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 2) + 1;
  for (const OptionGroup& group : groups_) {
    for (const Option& option : group.options) {
      if (option.is_hidden || name.empty()) continue;
      const bool begins = option.name.starts_with(name) || name.starts_with(option.name);
      const std::size_t apart = begins ? 1 : distance(name, option.name);
      if (apart < best_distance) {
        best = option.name;
        best_distance = apart;
      }
    }
  }
  return best;
}

}  // namespace bam::cli
