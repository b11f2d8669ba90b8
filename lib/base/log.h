// Messages for people, on standard error. Standard output carries data only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace bam::log {

enum class Level { silent, quiet, normal, verbose };  // silent: not even warnings

// Set once by run_tool: the tool's name before each line, and what -q and -v chose.
void configure(std::string_view tool_name, Level level);
Level level();

void warning(const std::string& line);  // shown even with -q, "TOOL: warning: LINE"
void info(const std::string& line);     // shown unless -q
void detail(const std::string& line);   // shown with -v
void answer(const std::string& line);   // shown even with -q: a signal asked for it

// Called before each line that is shown: a progress line wipes itself off the terminal.
void before_line(std::function<void()> callback);

}  // namespace bam::log
