// Golden vectors of tokenizers: JSON lines with "text" or "hex", "ids", and "decoded" where it is not the text.
#pragma once

#include <simdjson.h>

#include <string>
#include <vector>

#include "io/shard.h"

namespace bam::test {

struct TokenVector {
  std::string category;
  std::string bytes;
  std::string decoded;
  std::vector<io::Token> ids;
  std::vector<io::Token> special_ids;  // where special tokens in the text count: the same unless the file says others
};

inline std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// Throws simdjson_error for a file that is missing or not as described.
inline std::vector<TokenVector> read_token_vectors(const std::string& path) {
  std::vector<TokenVector> vectors;
  simdjson::dom::parser parser;
  for (simdjson::dom::element line : parser.load_many(path)) {
    TokenVector vector;
    std::string_view text;
    vector.category = std::string(std::string_view(line["cat"]));
    vector.bytes = line["text"].get(text) == simdjson::SUCCESS ? std::string(text) : from_hex(line["hex"]);
    vector.decoded = line["decoded"].get(text) == simdjson::SUCCESS ? std::string(text) : vector.bytes;
    for (const std::int64_t id : simdjson::dom::array(line["ids"])) {
      vector.ids.push_back(static_cast<io::Token>(id));
    }
    simdjson::dom::array special;
    vector.special_ids = vector.ids;
    if (line["ids_with_special"].get(special) == simdjson::SUCCESS) {
      vector.special_ids.clear();
      for (const std::int64_t id : special) vector.special_ids.push_back(static_cast<io::Token>(id));
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace bam::test
