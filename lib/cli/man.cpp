#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/render.h"

namespace bam::cli {
namespace {

// Text that roff shows as it is: a backslash is no escape, and a dash that one types, as in --name, is no hyphen.
std::string escaped(std::string_view text, bool is_prose) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_hyphen = is_prose && i > 0 && std::isalpha(static_cast<unsigned char>(text[i - 1])) != 0;
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-' && !is_hyphen) {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

// One argument of a macro: quoted where it has blanks, and never taken for a macro (.Ar No) or for punctuation.
std::string argument(std::string_view text) {
  const bool is_number = std::isdigit(static_cast<unsigned char>(text.front())) != 0;
  const bool may_mean_more = !is_number && text.size() <= 2;
  std::string safe = may_mean_more ? "\\&" : "";
  safe += escaped(text, false);
  if (text.find(' ') == std::string_view::npos) return safe;
  return '"' + safe + '"';
}

// One sentence, in lines of at most 78 characters.
void put_sentence(std::ostream& out, std::string_view sentence) {
  constexpr std::size_t kWidth = 78;
  while (!sentence.empty()) {
    std::size_t end = sentence.size() <= kWidth ? sentence.size() : sentence.rfind(' ', kWidth);
    if (end == std::string_view::npos) end = sentence.size();
    const bool looks_like_request = sentence.front() == '.' || sentence.front() == '\'';
    out << (looks_like_request ? "\\&" : "") << escaped(sentence.substr(0, end), true) << "\n";
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
}

// Each sentence begins a line, as mdoc wants it.
void put_sentences(std::ostream& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t end = 0;
    do {
      end = text.find(". ", end + 1);
    } while (end != std::string_view::npos && std::isupper(static_cast<unsigned char>(text[end + 2])) == 0);
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    put_sentence(out, text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
}

void put_option(std::ostream& out, const Option& option) {
  out << ".It ";
  if (option.letter != 0) out << "Fl " << option.letter << " , ";
  out << "Fl \\-" << escaped(option.name, false);
  if (!option.metavar.empty()) out << " Ar " << argument(option.metavar);
  out << "\n";
  put_sentences(out, option.help);
  if (!option.default_text.empty()) out << "The default is\n.Cm " << argument(option.default_text) << " .\n";
}

}  // namespace

std::string man_options(const OptionTable& table) {
  constexpr std::string_view kBeginList = ".Bl -tag -width Ds\n";
  constexpr std::string_view kEndList = ".El\n";
  std::ostringstream out;
  out << ".Sh OPTIONS\n";
  if (!table.operands().empty()) out << kBeginList;
  for (const Operand& operand : table.operands()) {
    out << ".It Ar " << argument(operand.option.name) << "\n";
    put_sentences(out, operand.option.help);
  }
  if (!table.operands().empty()) out << kEndList;
  for (const OptionGroup& group : table.groups()) {
    out << ".Ss " << group.title << "\n" << kBeginList;
    for (const Option& option : group.options) {
      if (!option.is_hidden) put_option(out, option);
    }
    out << kEndList;
  }
  return out.str();
}

}  // namespace bam::cli
