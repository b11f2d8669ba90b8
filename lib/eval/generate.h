// Continuing a text: which token comes next, and where to end.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "text/tokenizer.h"

namespace bam::eval {

struct SamplingRule {
  double temperature = 0;  // 0: the most likely token, of equals the first
  Index top_k = 0;         // of the most likely tokens alone; 0: of all
  double top_p = 1;        // of the fewest most likely tokens that hold this share of the probability
};

// First the largest top_k logits, then the temperature, then top_p of what is left. Equal logits rank by their id.
// Throws Error for logits that are not numbers.
class Sampler {
 public:
  explicit Sampler(const SamplingRule& rule, std::uint64_t seed = 0) : rule_(rule), rng_(seed, 0x67656e) {}

  text::Token choose(std::span<const double> logits);

 private:
  struct Candidate {
    text::Token id;
    double weight;  // the logit, then the probability
  };
  SamplingRule rule_;
  Rng rng_;
  std::vector<Candidate> candidates_;
};

// The text of tokens that come one after another, given out as far as no later token can change it: a character whose
// bytes are spread over tokens comes whole, and what may be the beginning of a stop string is held back.
class TextStream {
 public:
  TextStream(const text::Tokenizer& tokenizer, std::span<const text::Token> prompt, std::vector<std::string> stops);

  // What is new, and fit to be shown.
  std::string add(text::Token id);
  // The rest, once there are no more tokens.
  std::string end();
  // A stop string has come: it and what is behind it is never given out.
  bool is_stopped() const { return is_stopped_; }

 private:
  std::string take(std::size_t size);

  const text::Tokenizer& tokenizer_;
  std::vector<text::Token> ids_;  // the last few of the prompt, then those that came
  std::size_t context_ids_;
  std::vector<std::string> stops_;
  std::string pending_;      // decoded, not given out
  std::size_t decoded_ = 0;  // bytes of the decoded ids that are in pending_ or given out
  bool is_stopped_ = false;
};

}  // namespace bam::eval
