#include "base/log.h"

#include <cstdio>
#include <mutex>

#include "base/one_line.h"

namespace bam::log {
namespace {

std::string& tool_prefix() {
  static std::string prefix = "bam";
  return prefix;
}
std::function<void()>& line_callback() {
  static std::function<void()> callback;
  return callback;
}
std::mutex line_mutex;  // lines come from worker threads too
Level current_level = Level::normal;

// One write per line, so that the lines of several processes on one terminal do not mix.
void put(const std::string& message) {
  const std::lock_guard lock(line_mutex);
  if (line_callback()) line_callback()();
  const std::string text = one_line(tool_prefix() + ": " + message) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void configure(std::string_view tool_name, Level level) {
  tool_prefix() = tool_name;
  current_level = level;
}

Level level() {
  return current_level;
}

void warning(const std::string& line) {
  if (current_level != Level::silent) put("warning: " + line);
}

void info(const std::string& line) {
  if (current_level >= Level::normal) put(line);
}

void detail(const std::string& line) {
  if (current_level == Level::verbose) put(line);
}

void answer(const std::string& line) {
  if (current_level != Level::silent) put(line);
}

void before_line(std::function<void()> callback) {
  const std::lock_guard lock(line_mutex);
  line_callback() = std::move(callback);
}

}  // namespace bam::log
