#include <algorithm>
#include <stdexcept>

#include "cli/options.h"

namespace bam::cli {
namespace {

void refuse(const Option& option, const std::string& why) {
  if (option.source == Source::command_line) throw UsageError("--" + option.name + ": has no effect " + why);
}

}  // namespace

void refuse_idle(const OptionTable& table, const std::vector<Idle>& all) {
  for (const Idle& idle : all) {
    for (const std::string_view name : idle.options) {
      const Option* option = table.find(name);
      if (option == nullptr) throw std::logic_error("no option of this name: " + std::string(name));
      if (idle.applies) refuse(*option, idle.why);
    }
    for (const std::string_view title : idle.groups) {
      const auto group = std::find_if(table.groups().begin(), table.groups().end(),
                                      [&](const OptionGroup& each) { return each.title == title; });
      if (group == table.groups().end()) throw std::logic_error("no options of this title: " + std::string(title));
      if (!idle.applies) continue;
      for (const Option& option : group->options) refuse(option, idle.why);
    }
  }
}

}  // namespace bam::cli
