// tokenizer.json of Hugging Face tokenizers.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "io/json.h"
#include "text/byte_level.h"
#include "text/formats.h"
#include "text/huggingface_parts.h"
#include "text/json_vocabulary.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

using huggingface::Element;
using huggingface::Object;
using huggingface::Reader;
using huggingface::TextRules;

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";

void require_known(const Reader& reader, Object object, std::initializer_list<std::string_view> known,
                   const std::string& where) {
  for (const auto entry : object) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      reader.unsupported(io::json_quote(entry.key) + " in " + where);
    }
  }
}

Object model_of(const Reader& reader, Object root) {
  const std::optional<Element> element = reader.member(root, "model");
  if (!element) reader.refuse("no model");
  const Object model = reader.object(*element, "the model");
  const std::string type = reader.text(model, "type", "the model", reader.member(model, "merges") ? "BPE" : "unknown");
  if (type != "BPE") reader.unsupported("a model of the type " + io::json_quote(type));
  require_known(reader, model,
                {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                 "byte_fallback", "ignore_merges", "vocab", "merges"},
                "its model");
  for (const std::string_view name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!reader.text(model, name, "the model", "").empty()) reader.unsupported(std::string(name));
  }
  double dropout = 0;
  if (const auto given = reader.member(model, "dropout"); given && given->get(dropout) == simdjson::SUCCESS) {
    if (dropout != 0) reader.unsupported("dropout");
  }
  return model;
}

std::vector<TextMerge> merges_of(const Reader& reader, Object model) {
  std::vector<TextMerge> merges;
  for (const Element element : reader.array(model, "merges", "the model")) {
    std::string_view line;
    if (element.get(line) == simdjson::SUCCESS) {
      merges.push_back(parse_text_merge(line, reader.subject() + ": merge " + std::to_string(merges.size())));
      continue;
    }
    simdjson::dom::array pair;
    std::string_view left, right;
    if (element.get(pair) != simdjson::SUCCESS || pair.size() != 2 || pair.at(0).get(left) != simdjson::SUCCESS ||
        pair.at(1).get(right) != simdjson::SUCCESS) {
      reader.refuse("a merge that is not two tokens");
    }
    merges.emplace_back(left, right);
  }
  return merges;
}

// One of "added_tokens".
struct Added {
  AddedToken token;
  bool special = false;
  bool normalised = false;
};

std::vector<Added> added_of(const Reader& reader, Object root, const JsonVocabulary& vocabulary) {
  std::vector<Added> added;
  if (!reader.member(root, "added_tokens")) return added;
  for (const Element element : reader.array(root, "added_tokens", "the file")) {
    const Object object = reader.object(element, "an added token");
    Added one;
    std::int64_t id = -1;
    const std::optional<Element> number = reader.member(object, "id");
    if (!number || number->get(id) != simdjson::SUCCESS || id < 0) reader.refuse("an added token without an id");
    require_dense_ids(id, vocabulary.size() + std::ssize(added), reader.subject());
    one.token = {reader.text(object, "content", "an added token"), static_cast<Token>(id),
                 reader.flag(object, "lstrip", false), reader.flag(object, "rstrip", false),
                 reader.flag(object, "single_word", false)};
    one.special = reader.flag(object, "special", false);
    one.normalised = reader.flag(object, "normalized", !one.special);
    const Token own = vocabulary.find(one.token.content);
    if (own >= 0 && own != one.token.id) {
      reader.refuse("the added token " + io::json_quote(one.token.content) + " has two ids");
    }
    added.push_back(std::move(one));
  }
  return added;
}

// Where only U+2581 stands for blanks, no text is rewritten: a blank is that symbol.
void let_blanks_be_symbols(TextRules& rules) {
  using Kind = TextRules::Step::Kind;
  for (TextRules::Step& step : rules.steps) {
    if (step.kind == Kind::prepend && step.to == kBlankSymbol) step.to = " ";
    // What takes the prefix away again.
    if (step.kind == Kind::replace && step.from.starts_with(kBlankSymbol)) {
      step.from.replace(0, kBlankSymbol.size(), " ");
    }
  }
  std::erase_if(rules.steps, [](const TextRules::Step& step) {
    return step.kind == Kind::replace && step.from == " " && step.to == kBlankSymbol;
  });
}

bool turns_blanks_to_symbols(const TextRules& rules) {
  return rules.metaspace || std::any_of(rules.steps.begin(), rules.steps.end(), [](const TextRules::Step& step) {
           return step.from == " " && step.to == kBlankSymbol;
         });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string apply(const std::vector<TextRules::Step>& steps, std::string_view text, bool goes_on) {
  using Kind = TextRules::Step::Kind;
  std::string out(text);
  for (const TextRules::Step& step : steps) {
    if (step.kind == Kind::form) {
      out = normal_form(out, step.form);
    } else if (step.kind == Kind::replace) {
      out = replaced(std::move(out), step.from, step.to);
    } else if (!goes_on && !out.empty()) {
      out.insert(0, step.to);
    }
  }
  return out;
}

class Builder {
 public:
  Builder(Object root, const FormatChoice& choice)
      : choice_(choice),
        reader_(choice.subject),
        model_(model_of(reader_, root)),
        vocabulary_(vocabulary_object(), choice.subject),
        added_(added_of(reader_, root, vocabulary_)) {
    require_known(reader_, root,
                  {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                   "decoder", "model"},
                  "it");
    for (const std::string_view name : {"truncation", "padding"}) {
      if (reader_.member(root, name)) reader_.unsupported(std::string(name));
    }
    const auto read = [&](std::string_view name, auto reading, auto& into) {
      if (const auto element = reader_.member(root, name)) {
        reading(reader_, reader_.object(*element, "the " + std::string(name)), into);
      }
    };
    read("normalizer", huggingface::read_normaliser, rules_);
    read("pre_tokenizer", huggingface::read_pre_tokenizer, rules_);
    read("post_processor", huggingface::read_post_processor, borders_);
    read("decoder", huggingface::read_decoder, decoder_);
  }

  BpeParts build() {
    const std::vector<Merge> merges = vocabulary_.merges(merges_of(reader_, model_), choice_.subject);
    std::vector<BpePiece> pieces = vocabulary_.pieces();
    BpeParts parts;
    parts.words = rules_.byte_level ? byte_level_words(merges, pieces) : character_words(merges, pieces);
    if (!rules_.byte_level) set_neighbours(merges, parts);
    parts.kind = "huggingface";
    parts.name = choice_.name;
    parts.pieces = std::move(pieces);
    set_text_rules(parts);
    set_added(parts);
    set_borders(parts);
    return parts;
  }

 private:
  Object vocabulary_object() const {
    const std::optional<Element> vocabulary = reader_.member(model_, "vocab");
    if (!vocabulary) reader_.refuse("a model without a vocabulary");
    return reader_.object(*vocabulary, "the vocabulary");
  }

  WordModel byte_level_words(const std::vector<Merge>& merges, std::vector<BpePiece>& pieces) {
    WordModel words{Alphabet(std::array<Token, 256>{}), MergeTable(merges), {}};
    const bool whole = reader_.flag(model_, "ignore_merges", false);
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      const std::optional<std::string> bytes = bytes_of_characters(pieces[id].text);
      if (pieces[id].role != PieceRole::text || !bytes) continue;
      pieces[id].label = std::exchange(pieces[id].text, *bytes);
      if (whole) words.whole_words.emplace(*bytes, static_cast<Token>(id));
    }
    words.alphabet = byte_alphabet(pieces);
    return words;
  }

  // Published files lack the bytes that their text for learning did not have.
  Alphabet byte_alphabet(const std::vector<BpePiece>& pieces) {
    const std::array<Token, 256> symbols = known_byte_symbols(pieces);
    const auto lacking = std::count(symbols.begin(), symbols.end(), -1);
    if (lacking == 0) return Alphabet(symbols);
    if (lacking == std::ssize(symbols)) reader_.refuse("no token for any of the 256 bytes");
    if (reader_.flag(model_, "byte_fallback", false)) {
      reader_.unsupported("ByteLevel, byte_fallback, and not a token for each byte");
    }
    const std::string unknown = reader_.text(model_, "unk_token", "the model", "");
    const Token id = unknown.empty() ? Token{-1} : vocabulary_.find(unknown);
    if (!unknown.empty() && id < 0) reader_.refuse("the unk_token is not in the vocabulary");
    makes_unknown_ = id >= 0;
    return Alphabet(symbols, id, reader_.flag(model_, "fuse_unk", false));
  }

  WordModel character_words(const std::vector<Merge>& merges, std::vector<BpePiece>& pieces) {
    if (reader_.flag(model_, "ignore_merges", false)) reader_.unsupported("ignore_merges without ByteLevel");
    blanks_are_symbols_ = turns_blanks_to_symbols(rules_) && (rules_.metaspace || rules_.splitters.empty());
    if (blanks_are_symbols_) let_blanks_be_symbols(rules_);
    Alphabet::Characters characters;
    characters.blank_is_symbol = blanks_are_symbols_;
    characters.fuse_unknown = reader_.flag(model_, "fuse_unk", false);
    characters.first_part = static_cast<Token>(pieces.size());
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      const CodePoint point = first_code_point(pieces[id].text);
      if (point.bytes > 0 && point.bytes == pieces[id].text.size()) {
        characters.symbols[point.value] = static_cast<Token>(id);
        known_.insert(point.value);
      }
    }
    const std::string unknown = reader_.text(model_, "unk_token", "the model", "");
    if (!unknown.empty()) characters.unknown = vocabulary_.find(unknown);
    if (reader_.flag(model_, "byte_fallback", false)) {
      characters.bytes = fallback_bytes(pieces);
    } else if (characters.unknown < 0) {
      reader_.unsupported("neither ByteLevel nor byte_fallback nor an unk_token");
    }
    has_bytes_ = characters.bytes.has_value();
    keeps_unknown_runs_ = !has_bytes_ && characters.fuse_unknown;
    return {Alphabet(std::move(characters)), MergeTable(merges), {}};
  }

  std::array<Token, 256> fallback_bytes(std::vector<BpePiece>& pieces) const {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::array<Token, 256> bytes{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::string name = std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + '>';
      bytes[byte] = vocabulary_.find(name);
      if (bytes[byte] < 0) reader_.unsupported("byte_fallback without " + name);
      pieces[static_cast<std::size_t>(bytes[byte])] = {std::string(1, static_cast<char>(byte)), name, PieceRole::byte};
    }
    return bytes;
  }

  void set_neighbours(const std::vector<Merge>& merges, BpeParts& parts) const {
    const std::vector<BpePiece> pieces = vocabulary_.pieces();
    for (const Merge& merge : merges) parts.neighbours.add(pieces[static_cast<std::size_t>(merge.merged)].text);
    if (keeps_unknown_runs_) parts.neighbours.keep_unknown_runs(known_);
  }

  void set_text_rules(BpeParts& parts) {
    using Kind = TextRules::Step::Kind;
    parts.parts = std::none_of(rules_.steps.begin(), rules_.steps.end(), [&](const TextRules::Step& step) {
      return step.kind == Kind::replace || (step.kind == Kind::form && !rules_.byte_level);
    });
    const bool keeps_text = rules_.prefix == PrefixBlank::none && (rules_.byte_level || has_bytes_) &&
                            !makes_unknown_ &&
                            std::none_of(rules_.steps.begin(), rules_.steps.end(), [&](const TextRules::Step& step) {
                              return step.kind != Kind::prepend || !decoder_.drops_first_blank;
                            });
    parts.fidelity = keeps_text ? Fidelity::text : Fidelity::normalised;
    parts.prefix = rules_.prefix;
    parts.prefix_at_start_only = rules_.prefix_at_start_only;
    if (rules_.splitters.size() == 1) parts.splitter = std::move(rules_.splitters.front());
    if (rules_.splitters.size() > 1) parts.splitter = make_sequence_splitter(std::move(rules_.splitters));
    if (rules_.byte_level && !parts.splitter) reader_.unsupported("ByteLevel without a pattern to split by");
    if (!rules_.steps.empty()) {
      parts.normalise = [steps = rules_.steps](std::string_view text, bool, bool goes_on) {
        return apply(steps, text, goes_on);
      };
    }
    if (!rules_.byte_level) {
      parts.decoding = decoder_.byte_fallback ? Decoding::byte_fallback : Decoding::sentencepiece;
      parts.drops_first_blank = decoder_.drops_first_blank;
    }
  }

  void set_added(BpeParts& parts) const {
    std::vector<AddedToken> first, later;
    for (const Added& added : added_) {
      const auto place = static_cast<std::size_t>(added.token.id);
      if (place >= parts.pieces.size()) parts.pieces.resize(place + 1, {"", "<unused>", PieceRole::nothing});
      std::string text = added.token.content;
      for (const std::string& removed : decoder_.removed) text = replaced(std::move(text), removed, "");
      parts.pieces[place] = {text, text, PieceRole::text};
      if (added.special) parts.special.push_back({added.token.id, added.token.content});
      if (added.special && !choice_.allow_special) continue;
      AddedToken token = added.token;
      if (added.normalised && !rules_.steps.empty()) {
        token.content = apply(rules_.steps, token.content, false);
        if (token.takes_blanks_before || token.takes_blanks_behind) {
          reader_.unsupported("an added token with lstrip or rstrip that is looked for in the normalised text");
        }
        if (blanks_are_symbols_) token.content = replaced(token.content, std::string(kBlankSymbol), " ");
      }
      (added.normalised ? later : first).push_back(std::move(token));
    }
    parts.first = AddedTokens(std::move(first));
    parts.later = AddedTokens(std::move(later));
  }

  void set_borders(BpeParts& parts) const {
    for (const std::optional<Token>& id : {borders_.bos, borders_.eos}) {
      const bool is_special = !id || std::any_of(parts.special.begin(), parts.special.end(),
                                                 [&](const SpecialToken& token) { return token.id == *id; });
      if (!is_special) reader_.refuse("a template with the id " + std::to_string(*id) + ", which is not special");
    }
    parts.bos = borders_.bos;
    parts.eos = borders_.eos;
  }

  const FormatChoice& choice_;
  Reader reader_;
  Object model_;
  JsonVocabulary vocabulary_;
  std::vector<Added> added_;
  TextRules rules_;
  huggingface::Borders borders_;
  huggingface::DecoderRules decoder_;
  std::unordered_set<char32_t> known_;
  bool blanks_are_symbols_ = false;
  bool has_bytes_ = false;
  bool makes_unknown_ = false;
  bool keeps_unknown_runs_ = false;
};

}  // namespace

std::unique_ptr<Tokenizer> make_huggingface(std::string json, const FormatChoice& choice) {
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.parse(json).get(root) != simdjson::SUCCESS) {
    throw Error(choice.subject + ": not a tokenizer.json: not a valid JSON object");
  }
  BpeParts parts = Builder(root, choice).build();
  parts.files.push_back({"tokenizer.json", std::move(json)});
  return make_bpe_tokenizer(std::move(parts), choice.bos, choice.subject);
}

}  // namespace bam::text
