// Inside lib/cli: what the command line and a configuration file say, before any value is looked at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"

namespace bam::cli::detail {

struct CommandLine {
  std::vector<std::pair<Option*, std::string>> options;  // in the order given
  std::vector<std::string> operands;
};

// Throws UsageError for an unknown option and for a missing value.
CommandLine read_command_line(OptionTable& table, int argc, const char* const* argv);

struct ConfigLine {
  Index number;  // from 1
  std::string key;
  std::string value;
};

// The lines "key = value" of a file. Blank lines, and what follows a # at the beginning or after a blank, are comments.
// Throws Error for a file that cannot be read, UsageError "FILE:LINE: ..." for a line of another form.
std::vector<ConfigLine> read_config(const std::string& path);

// "unknown option, did you mean --context?", with `dashes` before the nearest name.
std::string unknown_option(const OptionTable& table, std::string_view name, std::string_view dashes);

// MODEL [FILE...]
std::string operand_synopsis(const std::vector<Operand>& operands);

// --context
std::string long_form(const Option& option);

}  // namespace bam::cli::detail
