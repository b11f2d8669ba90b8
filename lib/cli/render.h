// What is written from an option table: help, the OPTIONS section of the man page, shell completions.
#pragma once

#include <string>

#include "cli/run_tool.h"

namespace bam::cli {

std::string help_text(const ToolInfo& info, const OptionTable& table);

// mdoc(7), from ".Sh OPTIONS" to the end of the last list.
std::string man_options(const OptionTable& table);

std::string bash_completion(const ToolInfo& info, const OptionTable& table);
std::string zsh_completion(const ToolInfo& info, const OptionTable& table);

}  // namespace bam::cli
