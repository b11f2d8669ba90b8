#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "text/characters.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

bool is_white(CharClass kind) {
  return kind == CharClass::blank || kind == CharClass::newline;
}

// Where the last character before `end` begins.
std::size_t before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && is_continuation(text[at])) --at;
  return at;
}

CharClass class_at(std::string_view text, std::size_t at) {
  const CodePoint point = first_code_point(text.substr(at));
  return point.bytes == 0 ? CharClass::other : CharClasses::get().of(point.value);
}

bool is_word_at(std::string_view text, std::size_t at) {
  return is_word_character(text.substr(at, first_code_point(text.substr(at)).bytes));
}

bool is_word_beside(std::string_view text, std::size_t begin, std::size_t end) {
  return (begin > 0 && is_word_at(text, before(text, begin))) || (end < text.size() && is_word_at(text, end));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  std::sort(tokens_.begin(), tokens_.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  for (const AddedToken& token : tokens_) begins_[static_cast<unsigned char>(token.content[0])] = true;
}

const AddedToken* AddedTokens::longest(std::string_view text) const {
  const AddedToken* found = nullptr;
  auto low = tokens_.begin();
  auto high = tokens_.end();
  // [low, high) are the tokens that begin with the first `depth` bytes of the text; the shortest stands first.
  for (std::size_t depth = 0; depth < text.size() && low != high; ++depth) {
    const auto wanted = static_cast<unsigned char>(text[depth]);
    const auto byte_of = [&](const AddedToken& token) {
      return token.content.size() > depth ? static_cast<unsigned char>(token.content[depth]) : -1;
    };
    low = std::partition_point(low, high, [&](const AddedToken& token) { return byte_of(token) < wanted; });
    high = std::partition_point(low, high, [&](const AddedToken& token) { return byte_of(token) == wanted; });
    if (low != high && low->content.size() == depth + 1) found = &*low;
  }
  return found;
}

std::vector<AddedTokens::Section> AddedTokens::split(std::string_view text) const {
  std::vector<Section> sections;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const AddedToken* token = longest(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + token->content.size();
    at = end;
    if (token->stays_text || (token->single_word && is_word_beside(text, begin, end))) continue;
    while (token->takes_blanks_before && begin > done && is_white(class_at(text, before(text, begin)))) {
      begin = before(text, begin);
    }
    while (token->takes_blanks_behind && end < text.size() && is_white(class_at(text, end))) {
      end += first_code_point(text.substr(end)).bytes;
    }
    if (begin > done) sections.push_back({done, begin, -1});
    sections.push_back({begin, end, token->id});
    done = end;
  }
  if (done < text.size()) sections.push_back({done, text.size(), -1});
  return sections;
}

bool AddedTokens::any_ends(std::string_view text) const {
  return std::any_of(tokens_.begin(), tokens_.end(),
                     [&](const AddedToken& token) { return text.ends_with(token.content); });
}

bool AddedTokens::look_around() const {
  return std::any_of(tokens_.begin(), tokens_.end(), [](const AddedToken& token) {
    return !token.stays_text && (token.takes_blanks_before || token.takes_blanks_behind || token.single_word);
  });
}

}  // namespace bam::text
