// tokenizer.json of Hugging Face tokenizers.
//
// Whatever is accepted has the ids and the texts of the library (0.23) for any text; the rest is refused by its name.
#include <algorithm>
#include <unordered_set>
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
constexpr char32_t kBlankCharacter = 0x2581;

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
  std::string content;
  bool special = false;
  bool normalised = false;  // looked for in the normalised text
};

// The library gives ids by the order of the tokens, whatever the file says: those of the vocabulary, or the next one.
std::vector<Added> added_of(const Reader& reader, Object root, const JsonVocabulary& vocabulary) {
  std::vector<Added> added;
  if (!reader.member(root, "added_tokens")) return added;
  std::unordered_set<std::string> seen;
  Index next = vocabulary.tokens();
  for (const Element element : reader.array(root, "added_tokens", "the file")) {
    const Object object = reader.object(element, "an added token");
    Added one;
    std::int64_t id = -1;
    const std::optional<Element> number = reader.member(object, "id");
    if (!number || number->get(id) != simdjson::SUCCESS || id < 0) reader.refuse("an added token without an id");
    require_dense_ids(id, vocabulary.size() + std::ssize(added), reader.subject());
    one.content = reader.text(object, "content", "an added token");
    if (one.content.empty()) reader.refuse("an added token without text");
    const std::string name = "the added token " + io::json_quote(one.content);
    if (!seen.insert(one.content).second) reader.refuse(name + " is there twice");
    const Token own = vocabulary.find(one.content);
    const Index due = own >= 0 ? Index{own} : next++;
    if (own >= 0 && own != id) reader.refuse(name + " has two ids");
    if (due != id) {
      reader.unsupported(name + " with the id " + std::to_string(id) + " where its library gives " +
                         std::to_string(due));
    }
    one.token = {one.content, static_cast<Token>(id), reader.flag(object, "lstrip", false),
                 reader.flag(object, "rstrip", false), reader.flag(object, "single_word", false)};
    one.special = reader.flag(object, "special", false);
    one.normalised = reader.flag(object, "normalized", !one.special);
    added.push_back(std::move(one));
  }
  return added;
}

bool is_replace(const TextRules::Step& step, std::string_view from, std::string_view to) {
  return step.kind == TextRules::Step::Kind::replace && step.from == from && step.to == to;
}

bool turns_blanks_to_symbols(const TextRules::Step& step) {
  return is_replace(step, " ", kBlankSymbol);
}

std::string apply(const std::vector<TextRules::Step>& steps, std::string_view text, bool goes_on) {
  using Kind = TextRules::Step::Kind;
  std::string out(text);
  for (const TextRules::Step& step : steps) {
    if (step.kind == Kind::form) {
      out = huggingface::normal_form_of_library(out, step.form);
    } else if (step.kind == Kind::replace) {
      std::string replaced;
      append_replaced(out, step.from, step.to, replaced);
      out = std::move(replaced);
    } else if (!goes_on && !out.empty()) {
      out.insert(0, step.to);
    }
  }
  return out;
}

bool is_one_character(std::string_view text) {
  return !text.empty() && first_code_point(text).bytes == text.size();
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
    if (!reader_.member(root, "decoder")) decoder_.push_back(huggingface::join_step(" "));
    normalise_added();
    check_first_prefix();
  }

  BpeParts build() {
    const std::vector<Merge> merges = vocabulary_.merges(merges_of(reader_, model_), choice_.subject);
    check_merges(merges);
    std::vector<BpePiece> pieces = vocabulary_.pieces();
    BpeParts parts;
    parts.fidelity = keeps_text(merges) ? Fidelity::text : Fidelity::normalised;
    parts.words = rules_.byte_level ? byte_level_words(merges, pieces) : character_words(merges, pieces);
    if (makes_unknown_) parts.fidelity = Fidelity::normalised;
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

  // Special tokens in a text stay text where they are not allowed.
  bool stays_text(const Added& added) const { return added.special && !choice_.allow_special; }

  bool counts(const Added& added, bool normalised) const {
    return added.normalised == normalised && !stays_text(added);
  }

  bool any_counts(bool normalised) const {
    return std::any_of(added_.begin(), added_.end(), [&](const Added& added) { return counts(added, normalised); });
  }

  void normalise_added() {
    std::unordered_set<std::string> seen;
    for (Added& added : added_) {
      if (!added.normalised) continue;
      added.token.content = apply(rules_.steps, added.content, false);
      const std::string name = "the added token " + io::json_quote(added.content);
      if (added.token.content.empty()) reader_.unsupported(name + ", of which the normalizer leaves nothing");
      if (!seen.insert(added.token.content).second) {
        reader_.unsupported(name + ", which the normalizer makes the same as another");
      }
    }
    check_blank_tokens();
  }

  // One that takes the blanks before it, and stands in the blanks behind another, is of no length or worse.
  void check_blank_tokens() const {
    for (const Added& added : added_) {
      const AddedTokens blanks({{.content = "x", .id = 0, .takes_blanks_behind = true}});
      const bool is_blank = blanks.split("x" + added.token.content).size() == 1;
      const bool is_taken = std::any_of(added_.begin(), added_.end(), [&](const Added& other) {
        return other.normalised == added.normalised && other.token.takes_blanks_behind;
      });
      if (is_blank && added.token.takes_blanks_before && is_taken) {
        reader_.unsupported("the added token " + io::json_quote(added.content) +
                            " of blanks with lstrip beside one with rstrip");
      }
    }
  }

  // The library asks where in the text as it was the first character comes from. Here it is where in the text as it is.
  void check_first_prefix() const {
    if (!rules_.prefix_at_start_only) return;
    using Kind = TextRules::Step::Kind;
    const std::string what = "Metaspace with prepend_scheme \"first\" behind a normalizer that ";
    bool keeps_places = true;
    for (const TextRules::Step& step : rules_.steps) {
      if (step.kind == Kind::replace && (!is_one_character(step.from) || step.to.empty())) {
        reader_.unsupported(what + "replaces " + io::json_quote(step.from) + " by " + io::json_quote(step.to));
      }
      keeps_places = keeps_places && step.kind == Kind::replace && is_one_character(step.to);
    }
    if (!keeps_places && any_counts(true)) {
      reader_.unsupported(what + "changes lengths, and with added tokens that are looked for behind it");
    }
  }

  void check_merges(const std::vector<Merge>& merges) const {
    std::unordered_set<std::uint64_t> seen;
    for (const Merge& merge : merges) {
      const std::uint64_t pair =
          std::uint64_t{static_cast<std::uint32_t>(merge.left)} << 32U | static_cast<std::uint32_t>(merge.right);
      if (seen.insert(pair).second) continue;
      const std::vector<BpePiece> pieces = vocabulary_.pieces();
      reader_.refuse("the merge that makes " + io::json_quote(pieces[static_cast<std::size_t>(merge.merged)].text) +
                     " of the same tokens twice");
    }
  }

  // Whether a valid text comes back. That some bytes have no token, and that U+2581 is a blank, is told elsewhere.
  bool keeps_text(const std::vector<Merge>& merges) const {
    const auto is_decoded_by = [&](std::initializer_list<std::string_view> names) {
      return std::equal(names.begin(), names.end(), decoder_.begin(), decoder_.end(),
                        [](std::string_view name, const auto& step) { return name == step.name; });
    };
    const bool takes_blanks = std::any_of(added_.begin(), added_.end(), [&](const Added& added) {
      return !stays_text(added) && (added.token.takes_blanks_before || added.token.takes_blanks_behind);
    });
    if (takes_blanks || rules_.prefix != PrefixBlank::none || rules_.drops_text) return false;
    if (rules_.byte_level) {
      return rules_.steps.empty() && is_decoded_by({"ByteLevel"}) &&
             std::none_of(added_.begin(), added_.end(), [](const Added& added) {
               return bytes_of_characters(added.content).value_or(added.content) != added.content;
             });
    }
    const bool has_odd_tokens = std::any_of(added_.begin(), added_.end(), [](const Added& added) {
      return added.content.find_first_of(" ") != std::string::npos || added.content.starts_with("<0x");
    });
    const std::vector<BpePiece> pieces = vocabulary_.pieces();
    const bool makes_bytes = std::any_of(merges.begin(), merges.end(), [&](const Merge& merge) {
      return pieces[static_cast<std::size_t>(merge.merged)].text.starts_with("<0x");
    });
    if (has_odd_tokens || makes_bytes || !reader_.flag(model_, "byte_fallback", false)) return false;
    const std::string blanks = "Replace " + std::string(kBlankSymbol) + " by  ";
    const std::vector<TextRules::Step>& steps = rules_.steps;
    if (is_decoded_by({blanks, "ByteFallback", "Fuse"})) {
      return rules_.metaspace ? steps.empty() : steps.size() == 1 && turns_blanks_to_symbols(steps[0]);
    }
    return is_decoded_by({blanks, "ByteFallback", "Fuse", "Strip 1 of  "}) && !any_counts(false) && steps.size() == 2 &&
           steps[0].kind == TextRules::Step::Kind::prepend && steps[0].to == kBlankSymbol &&
           turns_blanks_to_symbols(steps[1]);
  }

  // Where all blanks become U+2581 in the end and nothing looks for either, no text is rewritten: a blank is that
  // symbol.
  void let_blanks_be_symbols() {
    blanks_are_symbols_ = rules_.metaspace;
    if (rules_.metaspace || !rules_.splitters.empty() || rules_.steps.empty()) return;
    if (!turns_blanks_to_symbols(rules_.steps.back())) return;
    blanks_are_symbols_ = true;
    const bool is_looked_for = any_counts(true) && std::any_of(added_.begin(), added_.end(), [](const Added& added) {
                                 const AddedToken& token = added.token;
                                 return added.normalised && (token.takes_blanks_before || token.takes_blanks_behind ||
                                                             token.content.find(kBlankSymbol) != std::string::npos);
                               });
    if (!is_looked_for) rules_.steps.pop_back();
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
    words.alphabet = byte_alphabet();
    return words;
  }

  // Published files lack the bytes that their text for learning did not have. An entry that is such a byte itself, and
  // not the character for it, is none.
  Alphabet byte_alphabet() {
    std::array<Token, 256> symbols{};
    for (std::size_t byte = 0; byte < symbols.size(); ++byte) {
      symbols[byte] = vocabulary_.find(characters_of_bytes(std::string(1, static_cast<char>(byte))));
    }
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

  WordModel character_words(const std::vector<Merge>& merges, const std::vector<BpePiece>& pieces) {
    if (reader_.flag(model_, "ignore_merges", false)) reader_.unsupported("ignore_merges without ByteLevel");
    let_blanks_be_symbols();
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
      characters.bytes = fallback_bytes();
    } else if (characters.unknown < 0) {
      reader_.unsupported("neither ByteLevel nor byte_fallback nor an unk_token");
    }
    check_made_symbols(merges, characters);
    keeps_unknown_runs_ = !characters.bytes && characters.fuse_unknown;
    return {Alphabet(std::move(characters)), MergeTable(merges), {}};
  }

  // Texts are taken apart by the characters of pieces, which those of bytes and of the unknown are not made of.
  void check_made_symbols(const std::vector<Merge>& merges, const Alphabet::Characters& characters) const {
    std::unordered_set<Token> made;
    if (characters.bytes) made.insert(characters.bytes->begin(), characters.bytes->end());
    if (!characters.bytes) made.insert(characters.unknown);
    for (const Merge& merge : merges) {
      if (made.contains(merge.left) || made.contains(merge.right)) {
        reader_.unsupported("a merge of byte_fallback's tokens or the unk_token");
      }
    }
  }

  std::array<Token, 256> fallback_bytes() const {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::array<Token, 256> bytes{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::string name = std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + '>';
      bytes[byte] = vocabulary_.find(name);
      if (bytes[byte] < 0) reader_.unsupported("byte_fallback without " + name);
    }
    return bytes;
  }

  void set_neighbours(const std::vector<Merge>& merges, BpeParts& parts) const {
    const std::vector<BpePiece> pieces = vocabulary_.pieces();
    for (const Merge& merge : merges) parts.neighbours.add(pieces[static_cast<std::size_t>(merge.merged)].text);
    if (!keeps_unknown_runs_) return;
    // To which a blank is U+2581: neither is known where only one of them is.
    std::unordered_set<char32_t> known = known_;
    if (!blanks_are_symbols_ && !known.contains(U' ')) known.erase(kBlankCharacter);
    parts.neighbours.keep_unknown_runs(std::move(known));
  }

  void set_text_rules(BpeParts& parts) {
    using Kind = TextRules::Step::Kind;
    parts.parts = std::none_of(rules_.steps.begin(), rules_.steps.end(), [&](const TextRules::Step& step) {
      return step.kind == Kind::replace || (step.kind == Kind::form && !rules_.byte_level);
    });
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
  }

  void set_added(BpeParts& parts) const {
    std::vector<std::optional<std::string>> texts(parts.pieces.size());
    for (const BpePiece& piece : vocabulary_.pieces()) {
      if (piece.role != PieceRole::nothing) texts[static_cast<std::size_t>(vocabulary_.find(piece.text))] = piece.text;
    }
    std::vector<AddedToken> first, later;
    for (const Added& added : added_) {
      const auto place = static_cast<std::size_t>(added.token.id);
      if (place >= parts.pieces.size()) parts.pieces.resize(place + 1, {"", "<unused>", PieceRole::nothing});
      BpePiece& piece = parts.pieces[place];
      if (piece.role == PieceRole::nothing) {
        piece = {added.content, added.content, PieceRole::text};
      } else if (vocabulary_.find(added.content) != added.token.id) {
        reader_.refuse("the added token " + io::json_quote(added.content) + " has the id of another");
      }
      texts.resize(parts.pieces.size());
      texts[place] = added.token.content;
      if (added.special) parts.special.push_back({added.token.id, added.content});
      AddedToken token = added.token;
      token.stays_text = stays_text(added);
      (added.normalised ? later : first).push_back(std::move(token));
    }
    if (any_counts(false)) parts.first = AddedTokens(std::move(first));
    if (any_counts(true)) parts.later = AddedTokens(std::move(later));
    parts.decode = huggingface::TokenDecoder(texts, decoder_);
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
  std::vector<huggingface::DecoderStep> decoder_;
  std::unordered_set<char32_t> known_;
  bool blanks_are_symbols_ = false;
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
