// Documents out of text files. Reading (one thread, front to back) and taking records apart (any thread) are separate,
// so that JSON is parsed where ids are made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/types.h"
#include "io/stream.h"

namespace bam::text {

enum class InputFormat {
  automatic,  // by name: .txt .text are text, .jsonl .ndjson .json are JSON lines; else by content: what begins
              // with an object ({ and then a quote or }) is JSON lines, anything else text. .zst and .gz are looked
              // through
  text,       // a file is one document, every byte of it
  lines,      // a line is one document, without its LF or CR LF
  jsonl,      // a line is a JSON object, and one of its fields the document; lines of blanks alone are passed over
};

struct InputOptions {
  InputFormat format = InputFormat::automatic;
  std::string field = "text";
  // What is longer is a problem of that record, so that what is held in memory does not grow with the input: a line, a
  // text that is to be handed out whole, and a stretch of another in which there is no place to cut it.
  Index most_bytes = Index{64} << 20;
};

// One document, or one part of a document where a text was cut.
struct Record {
  std::string bytes;
  Index line = 0;       // from 1; 0 for text
  bool begins = true;   // the first part of its document
  bool ends = true;     // the last part
  bool has_end = true;  // false for a last line without its newline
  std::string problem;  // not empty: why `bytes` is not here
};

// Where a text may be cut: a place in (0, size], or 0 for nowhere (Tokenizer::last_cut).
using Cutter = std::function<Index(std::string_view)>;

class DocumentReader {
 public:
  // "-" is standard input; zstd and gzip are undone. Text is handed out in parts of 128 KiB and more where `cutter`
  // finds places, else whole. A file without a byte is an empty text, or no line. Throws Error as io::open_decompressed
  // does, also from next(), and with the automatic format where a file is a checkpoint.
  DocumentReader(const std::string& path, const InputOptions& options, Cutter cutter = {});
  DocumentReader(std::unique_ptr<io::ByteSource> source, const InputOptions& options, Cutter cutter = {});

  // False at the end.
  bool next(Record& record);

  InputFormat format() const { return format_; }  // never automatic
  const std::string& name() const { return source_->name(); }
  bool is_empty() const { return at_end_ && !has_bytes_; }  // no byte in the whole file
  // Whether the content was taken for text although it begins with a brace: damaged JSON lines, perhaps.
  bool is_doubtful() const { return is_doubtful_; }

 private:
  bool fill();
  InputFormat detect();
  bool next_text(Record& record);
  bool next_line(Record& record);
  bool refuse_text(Record& record);
  void take_line(Record& record);
  std::string_view rest() const { return std::string_view(buffer_).substr(position_); }

  std::unique_ptr<io::ByteSource> source_;
  Cutter cutter_;
  InputFormat format_;
  std::size_t most_bytes_;
  std::string buffer_;
  std::size_t position_ = 0;  // of the first byte not handed out
  bool at_end_ = false;
  bool has_bytes_ = false;
  bool is_doubtful_ = false;
  bool is_inside_text_ = false;
  bool is_text_done_ = false;
  Index line_ = 0;
};

// Takes the text out of records.
class TextExtractor {
 public:
  TextExtractor(InputFormat format, std::string field);

  // Sets `text`, which lies in the record, and returns an empty string; or returns what is wrong with the record, on
  // one line: not valid JSON, no such field, not a string, not UTF-8, half a surrogate pair. Once for each record:
  // JSON's escapes are undone in its bytes.
  std::string extract(Record& record, std::string_view& text) const;

 private:
  InputFormat format_;
  std::string field_;
};

}  // namespace bam::text
