#include <filesystem>

#include "cli/options.h"

namespace bam::cli {
namespace {

namespace fs = std::filesystem;

// Every path that was given: on the command line, in a file of options or in the environment.
struct Use {
  std::string name;  // of the option, for messages
  std::string path;
  PathUse use;
};

void add_uses(const Option& option, const std::string& name, std::vector<Use>& uses) {
  for (const std::string& text : option.texts) uses.push_back({name, text, option.path_use});
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

}  // namespace

void refuse_file_conflicts(const OptionTable& table) {
  std::vector<Use> uses;
  for (const Operand& operand : table.operands()) add_uses(operand.option, operand.option.name, uses);
  for (const OptionGroup& group : table.groups()) {
    for (const Option& option : group.options) add_uses(option, "--" + option.name, uses);
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].use != PathUse::output) continue;
    for (std::size_t k = 0; k < uses.size(); ++k) {
      const bool reads = uses[k].use == PathUse::input;
      const bool conflicts = reads || (uses[k].use == PathUse::output && k < i);
      if (!conflicts || !is_same_file(uses[i].path, uses[k].path)) continue;
      throw UsageError(uses[i].name + ": " + uses[i].path + " is also " + (reads ? "read (" : "written (") +
                       uses[k].name + "), expected another name");
    }
  }
}

}  // namespace bam::cli
