// The ids that an evaluation scores: token shards, or text through the model's own tokenizer, as one sequence.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/reading.h"
#include "text/documents.h"

namespace bam::eval {

struct TokenInput {
  std::vector<std::string> paths;  // one behind the other; "-" is standard input
  text::InputOptions text;         // for what is not a shard; shards are known by their first bytes
  BosUse bos = BosUse::automatic;  // no: the ids BOS and EOS are left out, and documents join
  Index max_tokens = 0;            // 0 = all
};

// Warns of the first text that is not UTF-8, where the tokenizer cannot keep its bytes.
class LostBytes {
 public:
  void look(const std::string& name, const text::Tokenizer& tokenizer, std::string_view text);

 private:
  bool is_said_ = false;
};

class TokenSource {
 public:
  // `loaded` outlives the source.
  TokenSource(const LoadedModel& loaded, TokenInput input);
  ~TokenSource();

  // Fills `out` unless the end comes first; returns the number of ids. Throws Error "NAME: ..." for a damaged shard,
  // one of another tokenizer, a record that is not valid.
  Index read(std::span<text::Token> out);

  Index tokens() const;      // handed out so far
  std::string name() const;  // of the inputs, for messages

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bytes of text that each scored id stands for, where the tokenizer is lossless.
class ByteCounts {
 public:
  explicit ByteCounts(const text::Tokenizer& tokenizer);

  // `previous` tells whether the id begins a document: a tokenizer may put a blank there that the text does not have.
  Index operator()(text::Token id, text::Token previous) const;

 private:
  text::Token bos_id_;
  std::vector<std::int32_t> inside_, at_start_;
};

}  // namespace bam::eval
