#include "text/documents.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "base/byte_order_mark.h"
#include "base/error.h"
#include "io/checkpoint.h"

namespace bam::text {
namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kFirstPieceBytes = 4 * 1024;
constexpr std::size_t kTextPartBytes = 128 * 1024;
constexpr std::string_view kBlanks = " \t\r\n\v\f";

bool has_suffix(std::string_view name, std::string_view suffix) {
  if (name.size() < suffix.size()) return false;
  const std::string_view end = name.substr(name.size() - suffix.size());
  return std::equal(end.begin(), end.end(), suffix.begin(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

std::string_view without_compression(std::string_view name) {
  for (const std::string_view suffix : {".zst", ".gz"}) {
    if (has_suffix(name, suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

// As append, but without room for more than `most` bytes.
void append_within(std::string_view piece, std::size_t most, std::string& bytes) {
  const std::size_t needed = bytes.size() + piece.size();
  if (needed > bytes.capacity()) bytes.reserve(bytes.empty() ? needed : std::clamp(2 * bytes.capacity(), needed, most));
  bytes.append(piece);
}

bool looks_like_json_lines(std::string_view content) {
  content = without_byte_order_mark(content);
  const std::size_t brace = content.find_first_not_of(kBlanks);
  if (brace == std::string_view::npos || content[brace] != '{') return false;
  const std::size_t next = content.find_first_not_of(kBlanks, brace + 1);
  return next != std::string_view::npos && (content[next] == '"' || content[next] == '}');
}

}  // namespace

DocumentReader::DocumentReader(const std::string& path, const InputOptions& options, Cutter cutter)
    : DocumentReader(io::open_decompressed(path, io::EmptyFile::taken), options, std::move(cutter)) {}

DocumentReader::DocumentReader(std::unique_ptr<io::ByteSource> source, const InputOptions& options, Cutter cutter)
    : source_(std::move(source)),
      cutter_(std::move(cutter)),
      format_(options.format),
      most_bytes_(static_cast<std::size_t>(options.most_bytes)) {
  fill();
  if (format_ == InputFormat::automatic) format_ = detect();
  if (format_ != InputFormat::text) position_ += rest().size() - without_byte_order_mark(rest()).size();
}

InputFormat DocumentReader::detect() {
  if (io::looks_like_checkpoint(rest())) throw Error(source_->name() + ": a checkpoint, expected text");
  const std::string_view name = without_compression(source_->name());
  for (const std::string_view suffix : {".txt", ".text"}) {
    if (has_suffix(name, suffix)) return InputFormat::text;
  }
  for (const std::string_view suffix : {".jsonl", ".ndjson", ".json"}) {
    if (has_suffix(name, suffix)) return InputFormat::jsonl;
  }
  if (looks_like_json_lines(rest())) return InputFormat::jsonl;
  const std::size_t first = rest().find_first_not_of(kBlanks);
  is_doubtful_ = first != std::string_view::npos && rest()[first] == '{';
  return InputFormat::text;
}

// Reads a whole block, so that what follows does not depend on how a pipe was filled; in growing pieces, because many
// inputs are small, and room for a block costs more than reading them does.
bool DocumentReader::fill() {
  buffer_.erase(0, position_);
  position_ = 0;
  const std::size_t before = buffer_.size();
  std::size_t filled = before;
  for (std::size_t piece = kFirstPieceBytes; !at_end_ && filled < before + kBlockBytes; piece *= 2) {
    buffer_.resize(std::min(filled + piece, before + kBlockBytes));
    filled += static_cast<std::size_t>(source_->read_full(std::span<char>(buffer_).subspan(filled)));
    at_end_ = filled < buffer_.size();
  }
  buffer_.resize(filled);
  has_bytes_ = has_bytes_ || filled > 0;
  return filled > before;
}

bool DocumentReader::next(Record& record) {
  record = Record();
  return format_ == InputFormat::text ? next_text(record) : next_line(record);
}

bool DocumentReader::next_text(Record& record) {
  if (is_text_done_) return false;
  record.begins = !is_inside_text_;
  is_inside_text_ = true;
  for (std::size_t wanted = kTextPartBytes;; wanted *= 2) {
    while (rest().size() < wanted && fill()) {
    }
    if (rest().size() < wanted) break;
    const Index cut = cutter_ ? cutter_(rest()) : 0;
    if (cut > 0) {
      record.bytes = rest().substr(0, static_cast<std::size_t>(cut));
      record.ends = false;
      position_ += static_cast<std::size_t>(cut);
      return true;
    }
    if (rest().size() > most_bytes_) return refuse_text(record);
  }
  if (rest().size() > most_bytes_) return refuse_text(record);
  buffer_.erase(0, position_);
  position_ = 0;
  record.bytes = std::exchange(buffer_, {});
  is_text_done_ = true;
  return true;
}

// Reads on, so that the end of a compressed file is seen.
bool DocumentReader::refuse_text(Record& record) {
  record.problem = "a text of more than " + std::to_string(most_bytes_) + " bytes";
  if (cutter_) record.problem += " without a place where the tokenizer lets it be cut";
  do {
    position_ = buffer_.size();
  } while (fill());
  is_text_done_ = true;
  return true;
}

bool DocumentReader::next_line(Record& record) {
  for (;;) {
    if (rest().empty() && !fill()) return false;
    take_line(record);
    const bool is_blank = record.problem.empty() && record.bytes.find_first_not_of(kBlanks) == std::string::npos;
    if (format_ != InputFormat::jsonl || !is_blank) return true;
    record.bytes.clear();
  }
}

void DocumentReader::take_line(Record& record) {
  record.line = ++line_;
  for (;;) {
    const std::size_t newline = rest().find('\n');
    record.has_end = newline != std::string_view::npos;
    const std::string_view piece = rest().substr(0, newline);
    position_ += piece.size() + (record.has_end ? 1 : 0);
    if (record.problem.empty() && piece.size() > most_bytes_ - record.bytes.size()) {
      record.problem = "a line of more than " + std::to_string(most_bytes_) + " bytes";
      record.bytes = std::string();
    }
    if (record.problem.empty()) append_within(piece, most_bytes_, record.bytes);
    if (record.has_end || !fill()) break;
  }
  if (record.has_end && record.bytes.ends_with('\r')) record.bytes.pop_back();
}

}  // namespace bam::text
