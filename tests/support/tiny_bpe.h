// A small byte-level vocabulary in each of the formats that hold one: the 256 bytes, a few merges, "<|end|>".
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/json.h"
#include "text/byte_level.h"

namespace bam::test {

inline const std::vector<std::pair<std::string, std::string>>& tiny_merges() {
  static const std::vector<std::pair<std::string, std::string>> merges = {
      {"h", "e"},       {" ", "t"}, {" t", "he"}, {"t", "he"},  {"l", "l"},
      {"\xC3", "\xA9"}, {"a", "a"}, {"aa", "aa"}, {"\n", "\n"}, {" ", " "}};
  return merges;
}

// Bytes are ids 0 to 255 in their order, merges follow, then the special token.
inline std::vector<std::string> tiny_tokens() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  for (const auto& [left, right] : tiny_merges()) {
    const std::string both = left + right;
    if (std::find(tokens.begin(), tokens.end(), both) == tokens.end()) tokens.push_back(both);
  }
  return tokens;
}

inline std::string tiny_vocabulary_json(bool with_special) {
  io::JsonWriter json;
  json.begin_object();
  std::int64_t id = 0;
  for (const std::string& token : tiny_tokens()) json.field(text::characters_of_bytes(token), id++);
  if (with_special) json.field("<|end|>", id);
  return json.end_object().text();
}

inline std::string tiny_merges_text() {
  std::string lines = "#version: 0.2\n";
  for (const auto& [left, right] : tiny_merges()) {
    lines += text::characters_of_bytes(left) + " " + text::characters_of_bytes(right) + "\n";
  }
  return lines;
}

// A rank file of tiktoken.
inline std::string tiny_ranks() {
  std::string ranks;
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Index rank = 0;
  for (const std::string& token : tiny_tokens()) {
    for (std::size_t i = 0; i < token.size(); i += 3) {
      std::uint32_t bits = 0;
      const std::size_t count = std::min<std::size_t>(3, token.size() - i);
      for (std::size_t j = 0; j < count; ++j) {
        bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(token[i + j])) << (16 - 8 * j);
      }
      for (std::size_t j = 0; j < 4; ++j) ranks += j <= count ? digits[bits >> (18 - 6 * j) & 63U] : '=';
    }
    ranks.append(" ").append(std::to_string(rank++)).append("\n");
  }
  return ranks;
}

// `parts`: members beside "model" and "added_tokens", each `"name":value`; `model`: further members of the model.
inline std::string tiny_tokenizer_json(const std::string& parts, const std::string& model = "") {
  std::string merges;
  for (const auto& [left, right] : tiny_merges()) {
    if (!merges.empty()) merges += ',';
    merges += io::json_quote(text::characters_of_bytes(left) + " " + text::characters_of_bytes(right));
  }
  const std::string id = std::to_string(tiny_tokens().size());
  return R"({"version":"1.0","added_tokens":[{"id":)" + id +
         R"(,"content":"<|end|>","special":true,"normalized":false}],)" + parts + (parts.empty() ? "" : ",") +
         R"("model":{"type":"BPE",)" + model + R"("vocab":)" + tiny_vocabulary_json(false) + R"(,"merges":[)" + merges +
         "]}}";
}

inline const std::string kTinyByteLevel =
    R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"})";

}  // namespace bam::test
