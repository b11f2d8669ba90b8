// Files to documents to ids, on several threads. The ids and their order do not depend on the number of threads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "text/documents.h"
#include "text/tokenizer.h"

namespace bam::text {

enum class OnError { fail, skip };

struct TokenizeTotals {
  Index documents = 0;   // with tokens
  Index tokens = 0;      // BOS and EOS included
  Index text_bytes = 0;  // of documents with tokens
  Index empty = 0;       // documents without tokens: nothing in them, or nothing that the normaliser keeps
  Index skipped = 0;     // records with a problem
  Index not_utf8 = 0;    // documents with bytes that are not UTF-8, which the tokenizer replaces by U+FFFD
  Index lossy = 0;       // documents with bytes that the tokenizer has no token for
  Index duplicates = 0;  // documents whose text was there before
  Index held_out = 0;    // documents held out; not among `documents` and `tokens`
  Index files = 0;
  Index read_bytes = 0;    // of records, whatever became of them: for progress
  Index records = 0;       // documents that were read, whatever became of them
  Index input_digest = 0;  // fingerprint of these records, as read
};

// Takes the ids of one document, or of one part of it; `ends` with the last part. `so_far` counts them in.
using DocumentSink = std::function<void(std::span<const Token> ids, bool ends, const TokenizeTotals& so_far)>;

struct TokenizeOptions {
  InputOptions input;
  OnError on_error = OnError::fail;
  int threads = 1;
  bool drop_duplicates = false;  // of documents with the same text the first is kept; 32 bytes of memory for each text
  // Documents go to `held_out` whose text's SHA-256, as a number between 0 and 1, is below this: the same ones in any
  // order and any run, and all that are equal together.
  double held_out_share = 0;
  DocumentSink held_out;
  // What an earlier run has delivered: so many records are passed over, and its counts are gone on with. Documents to
  // hold out are delivered again. Error where the records are not those that the earlier run read, before anything is
  // delivered; `before_from` says for people where they went.
  TokenizeTotals before;
  std::string before_from;
  bool only_compares = false;  // expects the input to end there, and delivers nothing
};

// Encodes the documents of all files in order, each with BOS and EOS (encode_document).
// Records with a problem: fail throws Error "FILE:LINE: ..." once everything before is delivered; skip counts them and
// warns of the first ten. Where duplicates are dropped or documents held out, each is in memory as a whole. `progress`
// is called now and then. Throws what reading, `sink` and `progress` throw.
TokenizeTotals tokenize_files(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                              const TokenizeOptions& options, const DocumentSink& sink,
                              const std::function<void(const TokenizeTotals&)>& progress = {});

// How much plain text lies in the files, or 0 where that is not known beforehand (pipes, compressed files).
Index bytes_to_read(const std::vector<std::string>& paths);

// Throws Error when there was nothing to encode, or nothing that was not held out.
void require_documents(const TokenizeTotals& totals);

// Logs the totals, with a warning where bytes were replaced or lost; `holds_out` also says that nothing was held out.
void report(const TokenizeTotals& totals, double wall_s, bool holds_out = false);

// What became of a record that cannot be used, for tokenize_files and for learning.
class ProblemPolicy {
 public:
  explicit ProblemPolicy(OnError on_error) : on_error_(on_error) {}
  void report(const std::string& name, Index line, const std::string& problem);
  Index skipped() const { return skipped_; }

 private:
  OnError on_error_;
  Index skipped_ = 0;
};

}  // namespace bam::text
