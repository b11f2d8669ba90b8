// The words that RULER's tasks are made of: those of the wonderwords package, which RULER draws from, out of the user's
// copy, or a smaller list of our own.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"

namespace bam::eval {

struct WordLists {
  std::string name;  // the folder, or "built-in"
  std::vector<std::string> nouns, adjectives, verbs;
  std::vector<std::string> more;  // english_words.json, where the folder has it

  bool is_built_in() const { return name == "built-in"; }
};

// nounlist.txt, adjectivelist.txt and verblist.txt, a word a line, blanks at the end of a line left out; and RULER's
// english_words.json. Throws Error for a list that is missing or empty.
WordLists read_word_lists(const std::string& folder);

const WordLists& built_in_words();

// All "adjective-noun", sorted by bytes, each once. They are millions: only the lists are kept.
class KeyNames {
 public:
  explicit KeyNames(const WordLists& lists);

  Index size() const { return size_; }
  std::string operator[](Index index) const;

 private:
  // Names that begin with adjectives of which each is the beginning of the next ("well", "well-known") lie among each
  // other and are written out; all others lie adjective by adjective.
  struct Group {
    Index first = 0;
    std::string adjective;
    std::vector<std::string> names;
  };
  std::vector<std::string> nouns_;
  std::vector<Group> groups_;
  Index size_ = 0;
};

}  // namespace bam::eval
