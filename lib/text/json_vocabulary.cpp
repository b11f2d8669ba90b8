#include "text/json_vocabulary.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "io/json.h"

namespace bam::text {

TextMerge parse_text_merge(std::string_view line, const std::string& subject) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size() ||
      line.find(' ', blank + 1) != std::string_view::npos) {
    throw Error(subject + ": not a merge: expected two tokens with a blank between them");
  }
  return {line.substr(0, blank), line.substr(blank + 1)};
}

JsonVocabulary::JsonVocabulary(simdjson::dom::object object, const std::string& subject) {
  std::unordered_set<std::int64_t> taken;
  for (const auto entry : object) {
    std::int64_t id = 0;
    const bool is_id = entry.value.get(id) == simdjson::SUCCESS && id >= 0 && id < std::numeric_limits<Token>::max();
    if (!is_id) {
      throw Error(subject + ": token " + io::json_quote(entry.key) + " without an id, expected a number below 2^31");
    }
    if (!ids_.emplace(entry.key, static_cast<Token>(id)).second || !taken.insert(id).second) {
      throw Error(subject + ": token " + io::json_quote(entry.key) + " or its id " + std::to_string(id) + " twice");
    }
    size_ = std::max<Index>(size_, id + 1);
  }
  require_dense_ids(size_ - 1, std::ssize(ids_), subject);
}

Token JsonVocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? -1 : found->second;
}

std::vector<BpePiece> JsonVocabulary::pieces() const {
  std::vector<BpePiece> pieces(static_cast<std::size_t>(size_), {"", "<unused>", PieceRole::nothing});
  for (const auto& [text, id] : ids_) pieces[static_cast<std::size_t>(id)] = {std::string(text), "", PieceRole::text};
  return pieces;
}

std::vector<Merge> JsonVocabulary::merges(const std::vector<TextMerge>& merges, const std::string& subject) const {
  std::vector<Merge> found;
  found.reserve(merges.size());
  std::string both;
  for (const auto& [left, right] : merges) {
    both.assign(left).append(right);
    const Merge merge{find(left), find(right), find(both), static_cast<std::uint32_t>(found.size())};
    if (merge.left < 0 || merge.right < 0 || merge.merged < 0) {
      throw Error(subject + ": a merge of " + io::json_quote(left) + " and " + io::json_quote(right) +
                  ", which the vocabulary does not have all of");
    }
    found.push_back(merge);
  }
  return found;
}

}  // namespace bam::text
