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

struct Gpt2 {
  std::vector<BpePiece> pieces;
  std::vector<Merge> merges;
  std::vector<SpecialToken> special;
};

Gpt2 read_gpt2(const std::string& vocabulary, const std::string& merges, const std::string& subject) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(vocabulary).get(object) != simdjson::SUCCESS) {
    throw Error(subject + ": not a GPT-2 vocabulary: expected a JSON object of tokens and ids");
  }
  const JsonVocabulary entries(object, subject);
  Gpt2 read{entries.pieces(), entries.merges(parse_merges(merges, subject), subject), {}};
  std::unordered_set<Token> made;
  for (const Merge& pair : read.merges) made.insert(pair.merged);

  // What is neither a byte nor made by a merge never comes from a text: a special token.
  for (std::size_t i = 0; i < read.pieces.size(); ++i) {
    const auto id = static_cast<Token>(i);
    BpePiece& piece = read.pieces[i];
    if (piece.role != PieceRole::text) continue;
    const std::optional<std::string> bytes = bytes_of_characters(piece.text);
    if (bytes && (bytes->size() == 1 || made.contains(id))) {
      piece.label = std::exchange(piece.text, *bytes);
    } else {
      read.special.push_back({id, piece.text});
    }
  }
  return read;
}

}  // namespace

std::unique_ptr<Tokenizer> make_gpt2(std::string vocabulary, std::string merges, const FormatChoice& choice) {
  Gpt2 read = read_gpt2(vocabulary, merges, choice.subject);
  std::vector<AddedToken> added;
  for (const SpecialToken& token : read.special) added.push_back({token.text, token.id});
  const std::array<Token, 256> symbols = byte_symbols(read.pieces, choice.subject);
  BpeParts parts;
  parts.words = {Alphabet(symbols), MergeTable(read.merges), {}};
  parts.kind = "gpt2";
  parts.name = choice.name;
  parts.files.push_back({"merges.txt", std::move(merges)});
  parts.files.push_back({"vocab.json", std::move(vocabulary)});
  parts.pieces = std::move(read.pieces);
  parts.special = std::move(read.special);
  if (choice.allow_special) parts.first = AddedTokens(std::move(added));
  parts.splitter = make_pattern_splitter(SplitPattern::gpt2);
  return make_bpe_tokenizer(std::move(parts), choice.bos, choice.subject);
}

TokenizerJson gpt2_json(const std::string& vocabulary, const std::string& merges, const std::string& subject) {
  Gpt2 read = read_gpt2(vocabulary, merges, subject);
  TokenizerJson json;
  json.byte_level = true;
  json.entries = entries_of(read.pieces);
  json.merges = std::move(read.merges);
  for (const SpecialToken& token : read.special) json.special.push_back(token.id);
  return json;
}

}  // namespace bam::text
