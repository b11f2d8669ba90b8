#include <simdjson.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/formats.h"
#include "text/json_vocabulary.h"

namespace bam::text {
namespace {

std::vector<TextMerge> parse_merges(std::string_view file, const std::string& subject) {
  std::vector<TextMerge> merges;
  Index number = 0;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    std::string_view line = file.substr(0, end);
    file.remove_prefix(std::min(end + 1, file.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    merges.push_back(parse_text_merge(line, subject + ":" + std::to_string(number)));
  }
  return merges;
}

}  // namespace

std::unique_ptr<Tokenizer> make_gpt2(std::string vocabulary, std::string merges, const FormatChoice& choice) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(vocabulary).get(object) != simdjson::SUCCESS) {
    throw Error(choice.subject + ": not a GPT-2 vocabulary: expected a JSON object of tokens and ids");
  }
  const JsonVocabulary entries(object, choice.subject);
  std::vector<Merge> pairs = entries.merges(parse_merges(merges, choice.subject), choice.subject);
  std::unordered_set<Token> made;
  for (const Merge& pair : pairs) made.insert(pair.merged);

  // What is neither a byte nor made by a merge never comes from a text: a special token.
  std::vector<BpePiece> pieces = entries.pieces();
  std::vector<SpecialToken> special;
  std::vector<AddedToken> added;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<Token>(i);
    if (pieces[i].role != PieceRole::text) continue;
    const std::optional<std::string> bytes = bytes_of_characters(pieces[i].text);
    if (bytes && (bytes->size() == 1 || made.contains(id))) {
      pieces[i].label = std::exchange(pieces[i].text, *bytes);
      continue;
    }
    special.push_back({id, pieces[i].text});
    added.push_back({pieces[i].text, id});
  }
  const std::array<Token, 256> symbols = byte_symbols(pieces, choice.subject);
  BpeParts parts;
  parts.words = {Alphabet(symbols), MergeTable(pairs), {}};
  parts.kind = "gpt2";
  parts.name = choice.name;
  parts.files.push_back({"merges.txt", std::move(merges)});
  parts.files.push_back({"vocab.json", std::move(vocabulary)});
  parts.pieces = std::move(pieces);
  parts.special = std::move(special);
  if (choice.allow_special) parts.first = AddedTokens(std::move(added));
  parts.splitter = make_pattern_splitter(SplitPattern::gpt2);
  return make_bpe_tokenizer(std::move(parts), choice.bos, choice.subject);
}

}  // namespace bam::text
