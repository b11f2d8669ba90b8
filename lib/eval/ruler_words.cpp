#include "eval/ruler_words.h"

#include <simdjson.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "eval/python_text.h"
#include "io/stream.h"

namespace bam::eval {
namespace {

constexpr Index kMostListBytes = Index{1} << 30;

std::vector<std::string> read_list(const std::string& path) {
  const std::string bytes = io::read_file(path, kMostListBytes);
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    words.emplace_back(strip_end(std::string_view(bytes).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (words.empty()) throw Error(path + ": empty, expected a word a line");
  return words;
}

std::vector<std::string> read_more(const std::string& path) {
  std::vector<std::string> words;
  if (!std::filesystem::exists(path)) return words;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(io::read_file(path, kMostListBytes)).get(object) != simdjson::SUCCESS) {
    throw Error(path +
                ": not a JSON object, expected RULER's list of English words (Git LFS leaves a pointer in its place)");
  }
  for (const auto entry : object) {
    std::string_view word;
    if (entry.value.get(word) != simdjson::SUCCESS) throw Error(path + ": a value that is not a string");
    words.emplace_back(word);
  }
  return words;
}

void sort_unique(std::vector<std::string>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

WordLists read_word_lists(const std::string& folder) {
  return {.name = folder,
          .nouns = read_list(folder + "/nounlist.txt"),
          .adjectives = read_list(folder + "/adjectivelist.txt"),
          .verbs = read_list(folder + "/verblist.txt"),
          .more = read_more(folder + "/english_words.json")};
}

KeyNames::KeyNames(const WordLists& lists) : nouns_(lists.nouns) {
  sort_unique(nouns_);
  std::vector<std::string> adjectives;
  for (const std::string& adjective : lists.adjectives) adjectives.push_back(adjective + "-");
  sort_unique(adjectives);
  for (std::size_t i = 0; i < adjectives.size();) {
    Group group{.first = size_, .adjective = adjectives[i], .names = {}};
    std::size_t next = i + 1;
    while (next < adjectives.size() && adjectives[next].starts_with(adjectives[i])) ++next;
    if (next > i + 1) {
      for (std::size_t k = i; k < next; ++k) {
        for (const std::string& noun : nouns_) group.names.push_back(adjectives[k] + noun);
      }
      sort_unique(group.names);
    }
    size_ += group.names.empty() ? std::ssize(nouns_) : std::ssize(group.names);
    groups_.push_back(std::move(group));
    i = next;
  }
}

std::string KeyNames::operator[](Index index) const {
  const auto behind = std::upper_bound(groups_.begin(), groups_.end(), index,
                                       [](Index wanted, const Group& group) { return wanted < group.first; });
  const Group& group = *(behind - 1);
  const auto at = static_cast<std::size_t>(index - group.first);
  return group.names.empty() ? group.adjective + nouns_[at] : group.names[at];
}

}  // namespace bam::eval
