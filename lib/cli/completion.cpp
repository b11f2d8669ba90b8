#include <algorithm>
#include <sstream>

#include "cli/render.h"
#include "cli/sources.h"

namespace bam::cli {
namespace {

std::vector<const Option*> shown_options(const OptionTable& table) {
  std::vector<const Option*> shown;
  for (const OptionGroup& group : table.groups()) {
    for (const Option& option : group.options) {
      if (!option.is_hidden) shown.push_back(&option);
    }
  }
  return shown;
}

// _bam_ppl
std::string function_name(const ToolInfo& info) {
  std::string name = "_" + info.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string letter_form(const Option& option) {
  return std::string{'-', option.letter};
}

std::string bash_reply(const std::string& candidates) {
  return "mapfile -t COMPREPLY < <(compgen" + candidates + " -- \"$word\")";
}

void put_bash_case(std::ostream& out, const Option& option) {
  out << "    " << (option.letter != 0 ? letter_form(option) + " | " : "") << detail::long_form(option) << ") ";
  std::string candidates = option.path_use != PathUse::none ? " -f" : "";
  if (!option.words.empty()) candidates += " -W '" + detail::join(option.words, " ") + "'";
  out << (candidates.empty() ? ":" : bash_reply(candidates));
  out << " ;;\n";
}

// Inside '...' and [...] of _arguments.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_values(const Option& option) {
  if (option.path_use != PathUse::none) return "_files";
  return option.words.empty() ? " " : '(' + detail::join(option.words, " ") + ')';
}

// '(-o --output)'{-o+,--output=}'[Where to write.]:FILE:_files'
void put_zsh_argument(std::ostream& out, const Option& option) {
  const std::string letter = letter_form(option);
  const std::string name = detail::long_form(option);
  if (option.letter == 0) {
    out << "  '" << (option.repeats ? "*" : "") << name << (option.is_flag ? "" : "=");
  } else {
    out << "  '" << (option.repeats ? "*" : "(" + letter + " " + name + ")") << "'{";
    out << letter << (option.is_flag ? "" : "+") << "," << name << (option.is_flag ? "" : "=") << "}'";
  }
  out << "[" << zsh_escaped(option.help.substr(0, option.help.find(". "))) << "]";
  if (!option.is_flag) out << ":" << zsh_escaped(option.metavar) << ":" << zsh_values(option);
  out << "' \\\n";
}

}  // namespace

std::string bash_completion(const ToolInfo& info, const OptionTable& table) {
  std::ostringstream out;
  const std::string function = function_name(info);
  out << "# bash completion of " << info.name << "\n" << function << "() {\n";
  out << "  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n";
  // bash takes --name=wo apart at the equals sign.
  out << "  if [[ $word == '=' ]]; then word=\n";
  out << "  elif [[ $option == '=' ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi\n";
  out << "  COMPREPLY=()\n  case $option in\n";
  std::vector<std::string> names;
  for (const Option* option : shown_options(table)) {
    if (!option->is_flag) put_bash_case(out, *option);
    names.push_back(detail::long_form(*option));
  }
  out << "    *) if [[ $word == -* ]]; then " << bash_reply(" -W '" + detail::join(names, " ") + "'") << "\n";
  out << "       else " << bash_reply(" -f") << "; fi ;;\n  esac\n}\n";
  out << "complete -o filenames -F " << function << " " << info.name << "\n";
  return out.str();
}

std::string zsh_completion(const ToolInfo& info, const OptionTable& table) {
  std::ostringstream out;
  out << "#compdef " << info.name << "\n_arguments -s -S \\\n";
  for (const Option* option : shown_options(table)) put_zsh_argument(out, *option);
  out << "  '*:file:_files'\n";
  return out.str();
}

}  // namespace bam::cli
