// Training documents of the kind that the passkey task asks for: something is told, and asked for later. A model of
// half a million parameters learns from them in minutes what a large one learns from billions of tokens of web text.
//
//   passkey   a key under a name, somewhere in filler, asked for at the end; with a heading, or a second key that is
//             asked for next; in several wordings
//   list      names with numbers, some of which are asked back
//   copy      a span of words, digits or text, and the same again
//   text      plain text of exactly as many tokens as fill up a window
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "text/tokenizer.h"

namespace bam::eval {

struct CorpusTask {
  Index max_tokens = 128;
  double exact_share = 0;     // of the passkey documents, in the evaluation's own wording
  std::string filler_text{};  // ordinary text to take filler from; may be empty
  std::uint64_t seed = 0;
};

enum class CorpusKind : std::uint8_t { passkey, list, copy, text };

struct CorpusDocument {
  CorpusKind kind = CorpusKind::text;
  std::string text;
  std::string key;  // of a passkey document: what is asked for first
  bool exact = false;
  Index tokens = 0;  // BOS and EOS included, as bam-tokenize puts them; 0 = no such document
};

std::string corpus_line(const CorpusDocument& document);  // JSON, without a line end

// Documents follow each other so that every max_tokens of them begin a new one: cut into windows of that length, no
// document is torn apart. Of the tokens outside `text`, passkey documents have a half, lists 36 and copies 14 in a
// hundred. Without an exact share no document repeats the evaluation's wording (eval/passkey_wording.h).
class PasskeyCorpus {
 public:
  // Throws UsageError for max_tokens that do not hold a passkey document without filler.
  PasskeyCorpus(const text::Tokenizer& tokenizer, CorpusTask task);

  CorpusDocument next();

 private:
  // Text to cut filler from, as ids.
  struct Source {
    std::vector<text::Token> ids;
    bool begins_anew = false;  // every filler of a document begins with the first id, else goes on from the last one
    bool whole_sentences = false;
    std::size_t at = 0;
  };
  struct PasskeyParts {
    std::string heading, other_line, line, question, answer, other_question;
    bool other_first = false;
    std::string between;  // a blank or a line end
  };

  std::size_t bytes_of(Index tokens) const;
  Index count(const std::string& text) const;
  std::string ordinary_text(std::size_t bytes);
  Source draw_source(Index tokens);
  std::string cut(Source& source, Index tokens) const;

  PasskeyParts draw_parts(const std::string& key, bool exact);
  std::optional<std::string> compose(PasskeyParts parts, Source& source, Index size);
  CorpusDocument make_passkey(Index size);
  CorpusDocument make_list(Index size);
  CorpusDocument make_copy(Index size);
  CorpusDocument make_text(Index size);
  CorpusDocument make(CorpusKind kind, Index room);
  CorpusDocument make_next(Index room);
  std::vector<CorpusDocument> make_window();

  const text::Tokenizer& tokenizer_;
  CorpusTask task_;
  Rng rng_;
  Index overhead_;  // BOS, and EOS where there is one
  double bytes_per_token_ = 1;
  std::array<double, 3> written_{};     // tokens of passkey, list, copy
  std::vector<CorpusDocument> window_;  // what is left of the current one, in reverse
};

}  // namespace bam::eval
