#include "text/huggingface_parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "io/json.h"
#include "text/utf8.h"

namespace bam::text::huggingface {
namespace {

constexpr std::string_view kBlankSymbol = "\xE2\x96\x81";

// Punctuation of Unicode 14 that the library's older table does not have, and what it has beyond.
constexpr std::string_view kNewPunctuation =
    R"(\x{61D}\x{9FD}\x{A76}\x{C77}\x{C84}\x{1B7D}-\x{1B7E}\x{2E43}-\x{2E4F}\x{2E52}-\x{2E5D}\x{10EAD})"
    R"(\x{10F55}-\x{10F59}\x{10F86}-\x{10F89}\x{1144B}-\x{1144F}\x{1145A}-\x{1145B}\x{1145D})"
    R"(\x{11660}-\x{1166C}\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2}\x{11A3F}-\x{11A46})"
    R"(\x{11A9A}-\x{11A9C}\x{11A9E}-\x{11AA2}\x{11C41}-\x{11C45}\x{11C70}-\x{11C71}\x{11EF7}-\x{11EF8})"
    R"(\x{11FFF}\x{12FF1}-\x{12FF2}\x{16E97}-\x{16E9A}\x{16FE2}\x{1E95E}-\x{1E95F})";
constexpr std::string_view kFormerPunctuation = R"(\x{166D}\x{111C9})";

// Characters that Unicode 14 orders, composes or decomposes, and the library's table (Unicode 9) does not know.
constexpr std::array<std::pair<char32_t, char32_t>, 41> kNewForms = {
    {{0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
     {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},
     {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x10785},
     {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10F46, 0x10F50},
     {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x1183A},
     {0x11938, 0x11938}, {0x1193D, 0x1193E}, {0x11943, 0x11943}, {0x119E0, 0x119E0}, {0x11A34, 0x11A34},
     {0x11A47, 0x11A47}, {0x11A99, 0x11A99}, {0x11D42, 0x11D42}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97},
     {0x16FF0, 0x16FF1}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1F16C, 0x1F16C},
     {0x1FBF0, 0x1FBF9}}};

bool has_new_form(char32_t character) {
  if (character < kNewForms.front().first) return false;
  const auto after = std::upper_bound(kNewForms.begin(), kNewForms.end(), character,
                                      [](char32_t value, const auto& range) { return value < range.first; });
  return character <= std::prev(after)->second;
}

// A regular expression that matches this text alone.
std::string literally(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool is_word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!is_word && static_cast<unsigned char>(c) < 0x80) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

SplitBehaviour behaviour_of(const Reader& reader, const std::string& name) {
  constexpr std::array<std::pair<std::string_view, SplitBehaviour>, 5> kNames = {
      {{"Isolated", SplitBehaviour::isolated},
       {"Removed", SplitBehaviour::removed},
       {"MergedWithPrevious", SplitBehaviour::merged_with_previous},
       {"MergedWithNext", SplitBehaviour::merged_with_next},
       {"Contiguous", SplitBehaviour::contiguous}}};
  for (const auto& [text, behaviour] : kNames) {
    if (text == name) return behaviour;
  }
  reader.unsupported("split behaviour " + io::json_quote(name));
}

void add_regex(const Reader& reader, const std::string& pattern, SplitBehaviour behaviour, bool inverted,
               TextRules& rules) {
  rules.splitters.push_back(make_regex_splitter(pattern, behaviour, inverted, reader.subject()));
  // Matchers made by hand match all of any text.
  const bool matches_all = inverted && rules.splitters.back()->parts_before_blanks();
  if (behaviour == SplitBehaviour::removed && !matches_all) rules.drops_text = true;
}

void read_split(const Reader& reader, Object object, TextRules& rules) {
  const std::optional<Element> pattern = reader.member(object, "pattern");
  if (!pattern) reader.refuse("a Split without a pattern");
  const Object kinds = reader.object(*pattern, "the pattern of a Split");
  std::string expression;
  if (reader.member(kinds, "Regex")) {
    expression = reader.text(kinds, "Regex", "a Split");
  } else {
    expression = literally(reader.text(kinds, "String", "the pattern of a Split"));
  }
  if (expression.empty()) reader.unsupported("a Split with an empty pattern");
  // There it sees U+2581 where texts are split before blanks are replaced here.
  if (rules.metaspace) reader.unsupported("a Split behind Metaspace");
  add_regex(reader, expression, behaviour_of(reader, reader.text(object, "behavior", "a Split")),
            reader.flag(object, "invert", false), rules);
}

void read_byte_level(const Reader& reader, Object object, TextRules& rules) {
  // Which would give the bytes of U+2581, not of a blank.
  if (rules.metaspace) reader.unsupported("ByteLevel behind Metaspace");
  if (reader.flag(object, "add_prefix_space", true)) {
    if (!rules.splitters.empty()) reader.unsupported("ByteLevel with add_prefix_space behind another pre-tokenizer");
    rules.prefix = PrefixBlank::unless_space;
  }
  if (reader.flag(object, "use_regex", true)) rules.splitters.push_back(make_pattern_splitter(SplitPattern::gpt2));
  rules.byte_level = true;
}

void read_metaspace(const Reader& reader, Object object, TextRules& rules) {
  if (reader.text(object, "replacement", "Metaspace") != kBlankSymbol) {
    reader.unsupported("Metaspace with another sign than U+2581");
  }
  if (!rules.splitters.empty() || rules.metaspace) reader.unsupported("Metaspace behind another pre-tokenizer");
  const bool by_default = reader.flag(object, "add_prefix_space", true);
  const std::string scheme =
      reader.text(object, "prepend_scheme", "Metaspace", by_default ? std::string("always") : std::string("never"));
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    reader.unsupported("Metaspace with prepend_scheme " + io::json_quote(scheme));
  }
  if (scheme != "never") rules.prefix = PrefixBlank::unless_blank;
  rules.prefix_at_start_only = scheme == "first";
  rules.metaspace = true;
  if (reader.flag(object, "split", true)) {
    add_regex(reader, "[ " + std::string(kBlankSymbol) + "]", SplitBehaviour::merged_with_next, false, rules);
  }
}

// The id of a special token that stands for itself in a template.
Token template_id(const Reader& reader, Object tokens, const std::string& name) {
  const std::optional<Element> entry = reader.member(tokens, name);
  if (!entry) reader.refuse("a template with " + io::json_quote(name) + ", which is not among its special tokens");
  std::optional<Token> id;
  for (const Element element : reader.array(reader.object(*entry, "a special token"), "ids", "a special token")) {
    std::int64_t number = 0;
    if (id || element.get(number) != simdjson::SUCCESS || number < 0 || number > 0x7FFFFFFF) {
      reader.unsupported("a template whose special tokens are not one id each");
    }
    id = static_cast<Token>(number);
  }
  if (!id) reader.refuse("a special token without an id");
  return *id;
}

void read_template(const Reader& reader, Object object, Borders& borders) {
  const std::optional<Element> tokens = reader.member(object, "special_tokens");
  bool has_text = false;
  for (const Element element : reader.array(object, "single", "a template")) {
    const Object part = reader.object(element, "a part of a template");
    if (reader.member(part, "Sequence")) {
      if (has_text) reader.unsupported("a template with the text twice");
      has_text = true;
      continue;
    }
    const std::optional<Element> special = reader.member(part, "SpecialToken");
    if (!special || !tokens) reader.refuse("a template with a part that is neither text nor special token");
    const std::string name = reader.text(reader.object(*special, "a special token"), "id", "a special token");
    std::optional<Token>& border = has_text ? borders.eos : borders.bos;
    if (border) reader.unsupported("a template with more than one special token on one side");
    border = template_id(reader, reader.object(*tokens, "the special tokens"), name);
  }
  if (!has_text) reader.refuse("a template without the text");
}

// ["</s>", 2]
Token pair_id(const Reader& reader, Object object, std::string_view name) {
  std::optional<Token> id;
  for (const Element element : reader.array(object, name, "a post-processor")) {
    std::int64_t number = 0;
    if (element.get(number) == simdjson::SUCCESS && number >= 0 && number <= 0x7FFFFFFF) {
      id = static_cast<Token>(number);
    }
  }
  if (!id) reader.refuse("a post-processor whose " + std::string(name) + " has no id");
  return *id;
}

void read_strip(const Reader& reader, Object object, std::vector<DecoderStep>& steps) {
  std::int64_t start = 0, stop = 0;
  const auto number = [&](std::string_view name, std::int64_t& value) {
    const std::optional<Element> element = reader.member(object, name);
    if (element && element->get(value) != simdjson::SUCCESS) reader.refuse("a Strip decoder without numbers");
  };
  number("start", start);
  number("stop", stop);
  if (start < 0 || stop != 0) reader.unsupported("a Strip decoder that is not for the start");
  steps.push_back(strip_step(reader.character(object, "content", "a Strip decoder"), static_cast<std::size_t>(start)));
}

void read_replace_decoder(const Reader& reader, Object object, std::vector<DecoderStep>& steps) {
  const std::optional<Element> pattern = reader.member(object, "pattern");
  if (!pattern) reader.refuse("a Replace decoder without a pattern");
  const Object kinds = reader.object(*pattern, "the pattern of a decoder");
  if (reader.member(kinds, "Regex")) reader.unsupported("a Replace decoder of a regular expression");
  const std::string from = reader.text(kinds, "String", "a Replace decoder");
  if (from.empty()) reader.unsupported("a Replace decoder of nothing");
  steps.push_back(replace_step(from, reader.text(object, "content", "a Replace decoder")));
}

}  // namespace

void Reader::refuse(const std::string& what) const {
  throw Error(subject_ + ": not a usable tokenizer.json: " + what);
}

void Reader::unsupported(const std::string& what) const {
  throw Error(subject_ + ": a tokenizer.json with " + what + ", which is not supported");
}

std::optional<Element> Reader::member(Object object, std::string_view name) const {
  Element element;
  if (object.at_key(name).get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  return element;
}

Object Reader::object(Element element, const std::string& what) const {
  Object object;
  if (element.get(object) != simdjson::SUCCESS) refuse(what + " is not an object");
  return object;
}

std::string Reader::text(Object object, std::string_view name, const std::string& what) const {
  const std::optional<Element> element = member(object, name);
  std::string_view text;
  if (!element || element->get(text) != simdjson::SUCCESS) refuse(what + " without a text " + io::json_quote(name));
  return std::string(text);
}

std::string Reader::text(Object object, std::string_view name, const std::string& what,
                         const std::string& otherwise) const {
  return member(object, name) ? text(object, name, what) : otherwise;
}

bool Reader::flag(Object object, std::string_view name, bool otherwise) const {
  const std::optional<Element> element = member(object, name);
  bool value = otherwise;
  if (element && element->get(value) != simdjson::SUCCESS) refuse(std::string(name) + " is not true or false");
  return value;
}

std::string Reader::character(Object object, std::string_view name, const std::string& what) const {
  std::string character = text(object, name, what);
  if (character.empty() || first_code_point(character).bytes != character.size()) {
    refuse(what + " whose " + std::string(name) + " is not one character");
  }
  return character;
}

simdjson::dom::array Reader::array(Object object, std::string_view name, const std::string& what) const {
  const std::optional<Element> element = member(object, name);
  simdjson::dom::array array;
  if (!element || element->get(array) != simdjson::SUCCESS) refuse(what + " without a list " + io::json_quote(name));
  return array;
}

std::string normal_form_of_library(std::string_view text, NormalForm form) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (has_new_form(point.value)) {
      out += normal_form(text.substr(done, at - done), form);
      out += text.substr(at, bytes);
      done = at + bytes;
    }
    at += bytes;
  }
  return out + normal_form(text.substr(done), form);
}

void read_normaliser(const Reader& reader, Object object, TextRules& rules) {
  const std::string type = reader.text(object, "type", "a normalizer");
  constexpr std::array<std::pair<std::string_view, NormalForm>, 4> kForms = {
      {{"NFC", NormalForm::nfc}, {"NFD", NormalForm::nfd}, {"NFKC", NormalForm::nfkc}, {"NFKD", NormalForm::nfkd}}};
  using Kind = TextRules::Step::Kind;
  for (const auto& [name, form] : kForms) {
    if (type == name) return rules.steps.push_back({Kind::form, form, "", ""});
  }
  if (type == "Sequence") {
    for (const Element step : reader.array(object, "normalizers", "a Sequence")) {
      read_normaliser(reader, reader.object(step, "a normalizer"), rules);
    }
  } else if (type == "Prepend") {
    rules.steps.push_back({Kind::prepend, {}, "", reader.text(object, "prepend", "a Prepend")});
  } else if (type == "Replace") {
    const std::optional<Element> pattern = reader.member(object, "pattern");
    if (!pattern) reader.refuse("a Replace without a pattern");
    const Object kinds = reader.object(*pattern, "the pattern of a Replace");
    if (reader.member(kinds, "Regex")) reader.unsupported("a Replace of a regular expression");
    const std::string from = reader.text(kinds, "String", "a Replace");
    if (from.empty()) reader.unsupported("a Replace of nothing");
    rules.steps.push_back({Kind::replace, {}, from, reader.text(object, "content", "a Replace")});
  } else {
    reader.unsupported("the normalizer " + io::json_quote(type));
  }
}

void read_pre_tokenizer(const Reader& reader, Object object, TextRules& rules) {
  const std::string type = reader.text(object, "type", "a pre-tokenizer");
  if (type == "Sequence") {
    for (const Element step : reader.array(object, "pretokenizers", "a Sequence")) {
      read_pre_tokenizer(reader, reader.object(step, "a pre-tokenizer"), rules);
    }
    return;
  }
  // Behind ByteLevel the text is in other characters.
  if (rules.byte_level) reader.unsupported("the pre-tokenizer " + io::json_quote(type) + " behind ByteLevel");
  if (type == "ByteLevel") {
    read_byte_level(reader, object, rules);
  } else if (type == "Split") {
    read_split(reader, object, rules);
  } else if (type == "Digits") {
    const bool singly = reader.flag(object, "individual_digits", false);
    add_regex(reader, singly ? "\\p{N}" : "\\p{N}+", SplitBehaviour::isolated, false, rules);
  } else if (type == "Punctuation") {
    const std::string behaviour = reader.text(object, "behavior", "Punctuation", "Isolated");
    std::string pattern = "(?![";
    pattern.append(kNewPunctuation).append("])[!-\\/:-@\\[-`{-~\\p{P}").append(kFormerPunctuation).append("]");
    add_regex(reader, pattern, behaviour_of(reader, behaviour), false, rules);
  } else if (type == "Metaspace") {
    read_metaspace(reader, object, rules);
  } else {
    reader.unsupported("the pre-tokenizer " + io::json_quote(type));
  }
}

void read_post_processor(const Reader& reader, Object object, Borders& borders) {
  const std::string type = reader.text(object, "type", "a post-processor");
  if (type == "Sequence") {
    for (const Element step : reader.array(object, "processors", "a Sequence")) {
      read_post_processor(reader, reader.object(step, "a post-processor"), borders);
    }
  } else if (type == "TemplateProcessing") {
    read_template(reader, object, borders);
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    borders.bos = pair_id(reader, object, "cls");
    borders.eos = pair_id(reader, object, "sep");
  } else if (type != "ByteLevel") {  // which moves offsets, not ids
    reader.unsupported("the post-processor " + io::json_quote(type));
  }
}

void read_decoder(const Reader& reader, Object object, std::vector<DecoderStep>& steps) {
  const std::string type = reader.text(object, "type", "a decoder");
  if (type == "Sequence") {
    for (const Element step : reader.array(object, "decoders", "a Sequence")) {
      read_decoder(reader, reader.object(step, "a decoder"), steps);
    }
    return;
  }
  // What is not UTF-8 there would be replaced on the way.
  if (!steps.empty() && steps.back().name == "ByteLevel" && type != "Fuse") {
    reader.unsupported("the decoder " + io::json_quote(type) + " behind ByteLevel");
  }
  if (type == "Replace") {
    read_replace_decoder(reader, object, steps);
  } else if (type == "ByteFallback") {
    steps.push_back(byte_fallback_step());
  } else if (type == "Strip") {
    read_strip(reader, object, steps);
  } else if (type == "Metaspace") {
    const std::string scheme = reader.text(object, "prepend_scheme", "a Metaspace decoder",
                                           reader.flag(object, "add_prefix_space", true) ? "always" : "never");
    steps.push_back(metaspace_step(reader.character(object, "replacement", "a Metaspace decoder"), scheme != "never"));
  } else if (type == "ByteLevel") {
    steps.push_back(byte_level_step());
  } else if (type != "Fuse") {
    reader.unsupported("the decoder " + io::json_quote(type));
  } else if (steps.empty() || steps.back().name != "ByteLevel") {
    steps.push_back(join_step(""));
  }
}

}  // namespace bam::text::huggingface
