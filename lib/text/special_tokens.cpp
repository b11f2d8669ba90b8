#include "text/special_tokens.h"

#include <algorithm>

#include "base/error.h"

namespace bam::text {
namespace {

std::string names_of(const std::vector<SpecialToken>& special) {
  constexpr std::size_t kMostShown = 10;
  if (special.empty()) return "it has none";
  std::string names;
  for (std::size_t i = 0; i < special.size(); ++i) {
    if (i == kMostShown) return names + ", ...";
    names += (i == 0 ? "" : ", ") + special[i].text;
  }
  return names;
}

}  // namespace

Token choose_bos(const BosChoice& choice, const OwnBorders& own, const std::vector<SpecialToken>& special,
                 Index entries, const std::string& subject) {
  const auto added = static_cast<Token>(entries);
  const std::string both = " begins documents and ends them too, expected another special token for --bos-token (" +
                           one_line(names_of(special)) + ")";
  if (choice.id) {
    const bool is_special =
        std::any_of(special.begin(), special.end(), [&](const SpecialToken& token) { return token.id == *choice.id; });
    if (!is_special && *choice.id != added) {
      throw Error(subject + ": its BOS " + std::to_string(*choice.id) + " is not a special token of its tokenizer");
    }
    if (choice.id == own.eos) throw Error(subject + ": its token " + std::to_string(*choice.id) + both);
    return *choice.id;
  }
  if (choice.piece.empty()) {
    if (own.bos && own.bos == own.eos) throw Error(subject + ": its token " + std::to_string(*own.bos) + both);
    return own.bos.value_or(added);
  }
  for (const SpecialToken& token : special) {
    if (token.text != choice.piece) continue;
    if (token.id == own.eos) throw UsageError("--bos-token: " + one_line(choice.piece) + both);
    return token.id;
  }
  throw UsageError("--bos-token: " + one_line(choice.piece) + " is not a special token of " + subject + " (" +
                   one_line(names_of(special)) + ")");
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

}  // namespace bam::text
