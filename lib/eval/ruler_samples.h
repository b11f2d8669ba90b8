// RULER's samples, byte for byte those of its own generators for the same seed, tokenizer, length and words. Sizes are
// found by trying, and every try draws from the random stream, so that a sample depends on all before it.
//
// Sources  NVIDIA/RULER, as of 2026. Without the parameters of NLTK's Punkt, essays are cut into sentences by a rule of
//          our own, and tasks with essays are alike in kind only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/punkt.h"
#include "eval/ruler_tasks.h"
#include "eval/ruler_words.h"
#include "text/tokenizer.h"

namespace bam::eval {

struct RulerSample {
  Index index = 0;  // RULER's: for needles the place of the first answer in the input, in characters
  std::string input;
  std::vector<std::string> outputs;
  Index length = 0;  // tokens of input and answer prefix, and those that may be written; no BOS
  std::string answer_prefix;
  std::optional<Index> answer_token;  // needles: tokens before the first answer

  // As RULER writes it, without the line feed.
  std::string json_line() const;
};

// What samples are made of besides random numbers. Everything is opened when a task first needs it.
class RulerMaterial {
 public:
  struct Files {
    std::string words;   // a folder; empty: built-in
    std::string essay;   // text, or RULER's JSON with one "text"; empty: built-in
    std::string squad;   // dev-v2.0.json
    std::string hotpot;  // hotpot_dev_distractor_v1.json
    std::string punkt;   // a folder of NLTK's parameters; empty: sentences by our own rule
  };
  // A question of qa_1 or qa_2; documents by number.
  struct Question {
    std::string text;
    std::vector<std::string> answers;
    std::vector<Index> documents;  // that belong to it
    std::vector<Index> nearby;     // that are taken first beside them
  };
  struct Questions {
    std::string file;
    std::vector<std::string> documents;  // sorted, each once
    std::vector<Question> questions;
  };

  explicit RulerMaterial(Files files) : files_(std::move(files)) {}
  RulerMaterial() : RulerMaterial(Files{}) {}

  const WordLists& words();
  const KeyNames& key_names();
  const std::vector<std::string>& essay_words();
  // Of a text whose only white space is the blank.
  std::vector<std::string_view> essay_sentences(std::string_view text);
  // Throws UsageError where the user gave no file for the task.
  const Questions& questions(const RulerTask& task);

 private:
  Files files_;
  std::optional<WordLists> words_;
  std::optional<KeyNames> key_names_;
  std::vector<std::string> essay_words_;
  std::optional<Punkt> punkt_;
  std::optional<Questions> squad_, hotpot_;
};

class RulerGenerator {
 public:
  virtual ~RulerGenerator() = default;
  RulerGenerator(const RulerGenerator&) = delete;
  RulerGenerator& operator=(const RulerGenerator&) = delete;

  // Throws Error where RULER's generator would try for ever or end with a Python error: says why.
  virtual RulerSample next() = 0;

  // Throws Error "--samples: ..." where there is not enough for so many samples in all.
  virtual void require_samples(Index) const {}

 protected:
  RulerGenerator() = default;
};

// `material` and `tokenizer` outlive the generator. `length` is the most tokens that input, answer prefix and answer
// may take. Throws Error or UsageError, "--lengths: ..." where the length does not do for the task.
std::unique_ptr<RulerGenerator> make_ruler_generator(const RulerTask& task, RulerMaterial& material,
                                                     const text::Tokenizer& tokenizer, Index length,
                                                     std::uint32_t seed);

// Sentences of a text without line breaks: each ends with . ! or ? before a blank and something that can begin a
// sentence, unless an abbreviation or an initial stands before the full stop.
std::vector<std::string_view> sentences(std::string_view text);

}  // namespace bam::eval
