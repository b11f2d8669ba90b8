#include <filesystem>

#include "cli/options.h"

namespace bam::cli {
namespace {

namespace fs = std::filesystem;

// Every path that was given, on the command line, in a file of options or in the environment, and the standard input or
// output of those that were not.
struct Use {
  std::string name;  // of the option, for messages
  std::string path;
  PathUse use;
};

void add_uses(const Option& option, const std::string& name, std::vector<Use>& uses) {
  // A file may stand behind the standard input, too.
  const bool reads = option.path_use == PathUse::input;
  std::vector<std::string> paths = option.texts;
  const bool has_default = reads || option.path_use == PathUse::output;
  if (paths.empty() && has_default && option.current() == "-") paths.push_back("-");
  for (const std::string& path : paths) {
    uses.push_back({name, reads && path == "-" ? "/dev/stdin" : path, option.path_use});
  }
}

// Regular files, there already or to be made.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const auto counts = [&](const std::string& path) {
    return path != "-" && (!fs::exists(path, error) || fs::is_regular_file(path, error));
  };
  if (!counts(a) || !counts(b)) return false;
  if (fs::equivalent(a, b, error)) return true;
  return fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error);
}

bool is_written(PathUse use) {
  return use == PathUse::output || use == PathUse::added_to;
}

}  // namespace

void refuse_file_conflicts(const OptionTable& table) {
  std::vector<Use> uses;
  for (const Operand& operand : table.operands()) add_uses(operand.option, operand.option.name, uses);
  for (const OptionGroup& group : table.groups()) {
    for (const Option& option : group.options) add_uses(option, "--" + option.name, uses);
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!is_written(uses[i].use)) continue;
    if (uses[i].use == PathUse::added_to && uses[i].path == "-") {
      throw UsageError(uses[i].name + ": standard output is no file to add to, expected the name of one");
    }
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const bool reads = uses[k].use == PathUse::input;
      const bool conflicts = reads || (is_written(uses[k].use) && k < i);
      const bool both_stream = !reads && uses[i].path == "-" && uses[k].path == "-";
      if (!conflicts || (!both_stream && !is_same_file(uses[i].path, uses[k].path))) continue;
      throw UsageError(uses[i].name + ": " + (both_stream ? "standard output" : uses[i].path) + " is also " +
                       (reads ? "read (" : "written (") + uses[k].name + "), expected another name");
    }
  }
}

}  // namespace bam::cli
