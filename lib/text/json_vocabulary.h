// Vocabularies and merges as JSON files hold them: an object of tokens and ids, and pairs of tokens.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/bpe_tokenizer.h"

namespace bam::text {

using TextMerge = std::pair<std::string_view, std::string_view>;

// "left right". Throws Error "SUBJECT: ..." for anything else.
TextMerge parse_text_merge(std::string_view line, const std::string& subject);

class JsonVocabulary {
 public:
  // Views into `object`, whose parser must outlive this. Throws Error "SUBJECT: ..." for ids that are none, twice
  // there, or much larger than their number.
  JsonVocabulary(simdjson::dom::object object, const std::string& subject);

  Index size() const { return size_; }  // the largest id and one
  Index tokens() const { return std::ssize(ids_); }
  // -1 for a token that is not there.
  Token find(std::string_view token) const;

  // By id, with the text as it stands in the file; role `nothing` for ids that no token has.
  std::vector<BpePiece> pieces() const;

  // Their rank is their number. Throws Error for a token that is not there.
  std::vector<Merge> merges(const std::vector<TextMerge>& merges, const std::string& subject) const;

 private:
  std::unordered_map<std::string_view, Token> ids_;
  Index size_ = 0;
};

}  // namespace bam::text
