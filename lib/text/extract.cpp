#include <simdjson.h>

#include <utility>

#include "io/json.h"
#include "text/documents.h"
#include "text/utf8.h"

namespace bam::text {

// The DOM parser and not the lazy one: a record is valid as a whole or not at all.
struct TextExtractor::Json {
  simdjson::dom::parser parser;
};

namespace {

constexpr const char* kHalfPair = "a string with half of a surrogate pair, which is no text";

std::string describe(simdjson::error_code error, bool has_end) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "not valid UTF-8";
    case simdjson::STRING_ERROR:
      return "a string with an unknown escape, or with half of a surrogate pair";
    case simdjson::NUMBER_ERROR:
      return "a number that JSON does not allow, or beyond 64 bits";
    case simdjson::DEPTH_ERROR:
      return "JSON nested more than 1024 deep";
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
      return "a record that does not fit into memory";
    default:
      break;
  }
  return has_end ? "not valid JSON" : "not valid JSON (a last line without its newline: cut short?)";
}

const char* type_name(simdjson::dom::element_type type) {
  switch (type) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::string missing(const simdjson::dom::object& object, const std::string& field) {
  constexpr int kMostShown = 8;
  std::string names;
  int shown = 0;
  for (const auto entry : object) {
    if (shown++ == kMostShown) {
      names += ", ...";
      break;
    }
    names += (names.empty() ? "" : ", ") + io::json_quote(entry.key.substr(0, 40));
  }
  return "no field " + io::json_quote(field) + (names.empty() ? " in an empty object" : "; it has " + names);
}

}  // namespace

TextExtractor::TextExtractor(InputFormat format, std::string field)
    : format_(format), field_(std::move(field)), json_(std::make_unique<Json>()) {}

TextExtractor::~TextExtractor() = default;

std::string TextExtractor::extract(const Record& record, std::string_view& text) {
  text = {};
  if (!record.problem.empty()) return record.problem;
  if (format_ != InputFormat::jsonl) {
    text = record.bytes;
    return {};
  }
  simdjson::dom::element root;
  const simdjson::error_code error = json_->parser.parse(record.bytes).get(root);
  if (error != simdjson::SUCCESS) return describe(error, record.has_end);
  simdjson::dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return std::string("not a JSON object but ") + type_name(root.type());

  bool is_found = false;
  for (const auto entry : object) {
    if (entry.key != field_) continue;
    if (is_found) return "field " + io::json_quote(field_) + " twice";
    is_found = true;
    if (entry.value.get(text) != simdjson::SUCCESS) {
      return "field " + io::json_quote(field_) + " is " + type_name(entry.value.type()) + ", expected a string";
    }
  }
  if (!is_found) return missing(object, field_);
  // The parser checks the bytes of the file, but lets a low half alone through as \u escape.
  if (!is_utf8(text)) return kHalfPair;
  return {};
}

}  // namespace bam::text
