// What ids of a tokenizer.json decode to: its decoders, one behind the other, on the texts of the tokens.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/shard.h"

namespace bam::text::huggingface {

using io::Token;

// Texts, one behind the other.
class Texts {
 public:
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  std::string joined() && { return std::move(bytes_); }
  std::size_t bytes() const { return bytes_.size(); }

  // Of the text that end() ends.
  std::string& last() { return bytes_; }
  void end() { ends_.push_back(bytes_.size()); }
  void add(std::string_view text) {
    bytes_ += text;
    end();
  }
  void fuse() { ends_.assign(1, bytes_.size()); }
  // Room for so many texts, of so many bytes together.
  void reserve(std::size_t texts, std::size_t bytes) {
    ends_.reserve(texts);
    bytes_.reserve(bytes);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

struct DecoderStep {
  std::string name;
  std::function<Texts(Texts texts)> apply;
  bool by_token = false;  // makes the same of a text wherever it stands
};

DecoderStep replace_step(const std::string& from, const std::string& to);
// Of each text up to `most` of the character `content` in front.
DecoderStep strip_step(const std::string& content, std::size_t most);
// Blanks for `sign`, and nothing for those of the first text where it `drops` them.
DecoderStep metaspace_step(const std::string& sign, bool drops);
// Bytes for texts of the characters that stand for bytes; others stay.
DecoderStep byte_level_step();
// Runs of texts like <0x0A> are their bytes, or U+FFFD each where they are not UTF-8.
DecoderStep byte_fallback_step();
DecoderStep join_step(const std::string& between);

class TokenDecoder {
 public:
  // `tokens` by id; ids without one decode to nothing.
  TokenDecoder(const std::vector<std::optional<std::string>>& tokens, std::vector<DecoderStep> steps);

  std::string operator()(std::span<const Token> ids) const;

 private:
  Texts tokens_;  // as the steps leave them that take one token after the other
  std::vector<bool> is_token_;
  std::vector<DecoderStep> steps_;  // the others
};

}  // namespace bam::text::huggingface
