#include "text/learn.h"

#include <sentencepiece_trainer.h>

#include <exception>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

// The trainer leaves out longer lines without a word, and takes time that grows faster than their length.
constexpr std::size_t kMostLineBytes = 4096;

// Put before the text, so that each is a piece even where the text has none. (The trainer's own required_chars ends the
// process when such a character does not occur.)
constexpr std::string_view kDigits = "0123456789";

std::string_view cut_line(std::string_view& text) {
  std::size_t end = std::min(text.find('\n'), text.size());
  std::size_t next = std::min(end + 1, text.size());
  if (end > kMostLineBytes) {
    end = kMostLineBytes;
    const std::size_t blank = text.rfind(' ', end);
    if (blank != std::string_view::npos && blank > kMostLineBytes / 2) end = blank;
    while (end > 1 && is_continuation(text[end])) --end;
    next = end;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(next);
  return line;
}

// The lines of all documents, as the trainer asks for them. Exceptions wait until its code is left.
class Lines : public sentencepiece::SentenceIterator {
 public:
  Lines(const std::vector<std::string>& paths, const LearnOptions& options)
      : paths_(paths), options_(options), problems_(options.on_error) {
    Next();
    if (!is_done_) pending_ = std::exchange(line_, std::string(kDigits));
  }

  bool done() const override { return is_done_; }
  const std::string& value() const override { return line_; }
  sentencepiece::util::Status status() const override { return {}; }

  void Next() override {
    if (!pending_.empty()) {
      line_ = std::exchange(pending_, {});
      return;
    }
    try {
      is_done_ = !advance();
    } catch (...) {
      problem_ = std::current_exception();
      is_done_ = true;
    }
  }

  void rethrow() const {
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  bool advance() {
    do {
      while (text_.empty()) {
        if (!next_text()) return false;
      }
      line_ = cut_line(text_);
    } while (line_.empty());
    return true;
  }

  bool next_text() {
    if (!reader_) {
      if (file_ == paths_.size()) return false;
      // A text is as good in parts, cut behind a newline.
      reader_ = std::make_unique<DocumentReader>(paths_[file_++], options_.input, [](std::string_view text) {
        return static_cast<Index>(text.rfind('\n') + 1);
      });
      extractor_ = std::make_unique<TextExtractor>(reader_->format(), options_.input.field);
    }
    if (!reader_->next(record_)) {
      reader_.reset();
      return true;
    }
    const std::string problem = extractor_->extract(record_, text_);
    if (!problem.empty()) problems_.report(reader_->name(), record_.line, problem);
    return true;
  }

  const std::vector<std::string>& paths_;
  const LearnOptions& options_;
  ProblemPolicy problems_;
  std::size_t file_ = 0;
  std::unique_ptr<DocumentReader> reader_;
  std::unique_ptr<TextExtractor> extractor_;
  Record record_;
  std::string_view text_;
  std::string line_;
  std::string pending_;  // the first line, while the digits stand before it
  bool is_done_ = false;
  std::exception_ptr problem_;
};

std::unordered_map<std::string, std::string> trainer_settings(const LearnOptions& options) {
  return {{"model_type", "bpe"},
          {"vocab_size", std::to_string(options.vocab_size)},
          {"byte_fallback", "true"},
          {"character_coverage", "1"},
          {"split_digits", "true"},
          {"normalization_rule_name", "identity"},
          {"remove_extra_whitespaces", "false"},
          {"allow_whitespace_only_pieces", "true"},
          {"add_dummy_prefix", "false"},
          {"max_sentence_length", std::to_string(4 * kMostLineBytes)},
          // Part of the model's bytes, so not this machine's own number.
          {"num_threads", "1"},
          {"minloglevel", options.chatter ? "0" : "3"}};
}

// The trainer's message, "Internal: file.cc(12) [(a) == (b)] Vocabulary size is smaller ... 200 vs 332. Increase ...",
// in our own terms.
std::string readable(std::string message, Index vocab_size) {
  const auto number_behind = [&](std::string_view mark) -> std::string {
    const std::size_t start = message.find(mark);
    if (start == std::string::npos) return {};
    std::size_t end = start + mark.size();
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') ++end;
    return message.substr(start + mark.size(), end - start - mark.size());
  };
  const std::string subject = "cannot learn " + std::to_string(vocab_size) + " pieces: ";
  if (const std::string least = number_behind(" vs "); !least.empty()) {
    return subject + "bytes and the characters of this text alone are " + least + ", expected at least that";
  }
  if (const std::string most = number_behind("value <= "); !most.empty()) {
    return subject + "this text has too few, expected at most " + most;
  }
  const std::size_t bracket = message.rfind("] ");
  if (bracket != std::string::npos) message.erase(0, bracket + 2);
  return subject + (message.empty() ? "the bytes alone are 256, expected more than that" : message);
}

}  // namespace

std::string learn_sentencepiece(const std::vector<std::string>& paths, const LearnOptions& options) {
  Lines lines(paths, options);
  lines.rethrow();
  if (lines.done()) throw Error("no text to learn from: every document is empty or was skipped");
  std::string model;
  const sentencepiece::util::Status status =
      sentencepiece::SentencePieceTrainer::Train(trainer_settings(options), &lines, &model);
  lines.rethrow();
  if (!status.ok()) {
    throw Error(readable(status.error_message(), options.vocab_size));
  }
  return model;
}

}  // namespace bam::text
