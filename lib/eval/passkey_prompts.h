// The passkey task of Mohtashami and Jaggi (2023, "Landmark Attention"), in the wording and the piecewise tokenization
// of the BAM authors: description, filler x a, the line with the key, filler x b, question; then the key itself.
#pragma once

#include <string>
#include <vector>

#include "eval/reading.h"
#include "text/tokenizer.h"

namespace bam::eval {

// Where the line with the key stands among the fillers of sample i of n.
enum class NeedleDepths : std::uint8_t {
  equidistant,  // behind floor(i fillers / (n - 1)) of them
  random,       // behind 0 to all of them, each number as likely
  beginning,
  end
};

const NameTable<NeedleDepths>& needle_depth_names();

struct PasskeyTask {
  Index digits = 5;         // to be found
  Index prefix_digits = 0;  // of the same key, in front of them, given behind the question
  Index samples = 20;       // at each length
  NeedleDepths depths = NeedleDepths::equidistant;
  BosUse bos = BosUse::automatic;
  std::uint64_t seed = 0;
  std::string length_option = "--lengths";  // what a length that is too short is blamed on
};

struct PasskeyPrompt {
  Index length = 0;  // asked for
  Index sample = 0;
  Index fillers = 0;
  Index needle = 0;         // fillers before the key's line
  Index needle_token = 0;   // ids before it
  Index needle_tokens = 0;  // ids of it
  std::string key;          // prefix digits and digits
  std::vector<text::Token> ids;
  Index prompt_tokens = 0;  // of the ids; behind them the key. The real length
  Index first_scored = 0;   // from here to the end of the ids

  double depth() const { return fillers == 0 ? 0.0 : static_cast<double>(needle) / static_cast<double>(fillers); }
};

// Keys and depths depend on the seed, the length and the sample alone, so that any share of the samples can be made
// anywhere.
class PasskeyPrompts {
 public:
  PasskeyPrompts(const text::Tokenizer& tokenizer, const PasskeyTask& task);

  const PasskeyTask& task() const { return task_; }

  // As many as fit into `length` ids of prompt, the key behind the question not counted.
  // Throws UsageError where not even the fixed parts fit.
  Index fillers(Index length) const;

  PasskeyPrompt make(Index length, Index sample) const;

 private:
  // Pieces are tokenized each for itself, as the authors do. Where the tokenizer puts no blank before a text by itself,
  // the piece begins with one, so that words of neighbouring pieces stay apart.
  std::vector<text::Token> encode(const std::string& piece, bool first = false) const;
  std::vector<text::Token> information_line(const std::string& key) const;
  // Ids at the end of `answer` that hold the last `digits` characters.
  Index scored_tokens(const std::vector<text::Token>& answer) const;

  const text::Tokenizer& tokenizer_;
  PasskeyTask task_;
  bool adds_blank_;
  std::vector<text::Token> description_, filler_, question_;
  Index fixed_tokens_ = 0;
};

}  // namespace bam::eval
