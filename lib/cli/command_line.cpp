// The command line by Boost.Program_options, which here only takes the words apart: its own value types take -1 for
// 4294967295 and nan for a number, so that all values stay text.
#include <boost/make_shared.hpp>
#include <boost/program_options.hpp>

#include "cli/sources.h"

namespace bam::cli::detail {
namespace po = boost::program_options;
namespace {

po::options_description describe(const OptionTable& table) {
  po::options_description description;
  const auto declare = [&](const std::string& names, const po::value_semantic* semantic) {
    description.add(boost::make_shared<po::option_description>(names.c_str(), semantic));
  };
  for (const OptionGroup& group : table.groups()) {
    for (const Option& option : group.options) {
      const std::string letter = option.letter != 0 ? std::string{',', option.letter} : "";
      if (!option.is_flag) {
        declare(option.name + letter, po::value<std::string>());
        continue;
      }
      declare(option.name, po::value<std::string>()->implicit_value("yes"));
      // Apart from the long form, because only an option that can have no value may be bundled: -qv.
      if (!letter.empty()) declare(letter, new po::untyped_value(true));
    }
  }
  return description;
}

// Takes "--flag", and "yes" or "no" behind it. Boost by itself would take any word behind it.
std::vector<po::option> read_flag(const OptionTable& table, std::vector<std::string>& words) {
  if (!words[0].starts_with("--")) return {};
  const Option* option = table.find(std::string_view(words[0]).substr(2));
  if (option == nullptr || !option->is_flag) return {};
  const bool has_word = words.size() > 1 && (words[1] == "yes" || words[1] == "no");
  po::option read(option->name, {has_word ? words[1] : "yes"});
  const auto end = words.begin() + (has_word ? 2 : 1);
  read.original_tokens.assign(words.begin(), end);
  words.erase(words.begin(), end);
  return {read};
}

Option* find_letter(OptionTable& table, char letter) {
  for (const OptionGroup& group : table.groups()) {
    for (const Option& option : group.options) {
      if (option.letter == letter) return table.find(option.name);
    }
  }
  return nullptr;
}

// The option that a word such as --seed, --seed=3 or -o is, or null.
Option* find_word(OptionTable& table, const std::string& word) {
  if (word.starts_with("--")) return table.find(std::string_view(word).substr(2, word.find('=') - 2));
  return word.size() == 2 && word[0] == '-' ? find_letter(table, word[1]) : nullptr;
}

std::vector<po::option> parse_words(const OptionTable& table, const std::vector<std::string>& words) {
  namespace style = po::command_line_style;
  po::command_line_parser parser(words);
  const po::options_description description = describe(table);
  parser.options(description);
  parser.style(static_cast<int>(style::unix_style) & ~static_cast<int>(style::allow_guessing));
  parser.extra_style_parser([&](std::vector<std::string>& rest) { return read_flag(table, rest); });
  return parser.run().options;
}

[[noreturn]] void refuse_missing_value(const Option& option) {
  throw UsageError(long_form(option) + ": a value is missing, expected " + option.metavar);
}

[[noreturn]] void refuse(OptionTable& table, const po::error_with_option_name& error) {
  const std::string word = error.get_option_name();
  const Option* option = find_word(table, word);
  if (option == nullptr) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const bool is_long = name.starts_with("--");
    throw UsageError(std::string(name) + ": " + unknown_option(table, is_long ? name.substr(2) : "", "--"));
  }
  if (option->is_flag) throw UsageError(long_form(*option) + ": takes no value but yes or no");
  refuse_missing_value(*option);
}

}  // namespace

CommandLine read_command_line(OptionTable& table, int argc, const char* const* argv) {
  std::vector<po::option> parsed;
  try {
    parsed = parse_words(table, {argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const po::error_with_option_name& error) {
    refuse(table, error);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  CommandLine line;
  for (const po::option& read : parsed) {
    if (read.position_key >= 0) {
      line.operands.push_back(read.value.front());
      continue;
    }
    Option* option = find_word(table, read.string_key.starts_with('-') ? read.string_key : "--" + read.string_key);
    if (option == nullptr) throw std::logic_error("option without declaration: " + read.string_key);
    // Boost lets an option take the next one for its value.
    const bool separate = read.original_tokens.size() > 1;
    if (!option->is_flag && separate && find_word(table, read.value.front()) != nullptr) refuse_missing_value(*option);
    line.options.emplace_back(option, read.value.empty() ? "yes" : read.value.front());
  }
  return line;
}

}  // namespace bam::cli::detail
