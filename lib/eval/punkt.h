// Sentences as NLTK's Punkt finds them (Kiss and Strunk, 2006): what RULER cuts its essays with.
//
// Source   nltk.tokenize.punkt of NLTK 3.10, PunktSentenceTokenizer.tokenize(). Earlier versions do not count the curly
//          quotes and guillemets among closing marks.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bam::eval {

class Punkt {
 public:
  // A folder of nltk_data, tokenizers/punkt_tab/english: abbrev_types.txt, collocations.tab, sent_starters.txt and
  // ortho_context.tab. Throws Error where one is missing or not of that form.
  explicit Punkt(const std::string& folder);

  // Of a text whose only white space is the blank. Blanks between sentences belong to none.
  std::vector<std::string_view> sentences(std::string_view text) const;

 private:
  struct Word;
  struct Span {
    std::size_t begin, end;
  };

  Word word_of(std::string_view text) const;
  bool ends_sentence(const Word& word, const Word& next) const;
  enum class Start { yes, no, unknown };
  Start starts_sentence(const Word& word) const;
  int contexts_of(const std::string& type) const;
  bool has_break(std::string_view context) const;
  std::vector<Span> cut(std::string_view text) const;

  std::unordered_set<std::string> abbreviations_, starters_;
  std::unordered_set<std::string> collocations_;   // two types with a tab between
  std::unordered_map<std::string, int> contexts_;  // in which a type occurred, a sum of bits
};

}  // namespace bam::eval
