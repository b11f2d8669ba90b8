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
constexpr std::size_t kTextPartBytes = 1 << 20;
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

bool looks_like_json_lines(std::string_view content) {
  content = without_byte_order_mark(content);
  const std::size_t brace = content.find_first_not_of(kBlanks);
  if (brace == std::string_view::npos || content[brace] != '{') return false;
  const std::size_t next = content.find_first_not_of(kBlanks, brace + 1);
  return next != std::string_view::npos && (content[next] == '"' || content[next] == '}');
}

}  // namespace

DocumentReader::DocumentReader(const std::string& path, const InputOptions& options, Cutter cutter)
    : DocumentReader(io::open_decompressed(path), options, std::move(cutter)) {}

DocumentReader::DocumentReader(std::unique_ptr<io::ByteSource> source, const InputOptions& options, Cutter cutter)
    : source_(std::move(source)),
      cutter_(std::move(cutter)),
      format_(options.format),
      most_line_bytes_(static_cast<std::size_t>(options.most_line_bytes)) {
  fill();
  if (format_ == InputFormat::automatic) format_ = detect();
  if (format_ != InputFormat::text) position_ += rest().size() - without_byte_order_mark(rest()).size();
}

InputFormat DocumentReader::detect() const {
  if (io::looks_like_checkpoint(rest())) throw Error(source_->name() + ": a checkpoint, expected text");
  const std::string_view name = without_compression(source_->name());
  for (const std::string_view suffix : {".txt", ".text"}) {
    if (has_suffix(name, suffix)) return InputFormat::text;
  }
  for (const std::string_view suffix : {".jsonl", ".ndjson", ".json"}) {
    if (has_suffix(name, suffix)) return InputFormat::jsonl;
  }
  return looks_like_json_lines(rest()) ? InputFormat::jsonl : InputFormat::text;
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
    if (cut == 0) continue;
    record.bytes = rest().substr(0, static_cast<std::size_t>(cut));
    record.ends = false;
    position_ += static_cast<std::size_t>(cut);
    return true;
  }
  record.bytes = rest();
  position_ = buffer_.size();
  is_text_done_ = true;
  return true;
}

bool DocumentReader::next_line(Record& record) {
  std::size_t searched = 0;
  for (;;) {
    const std::size_t newline = rest().find('\n', searched);
    if (newline != std::string_view::npos) {
      take_line(record, newline, true);
    } else if (rest().size() > most_line_bytes_) {
      return skip_long_line(record);
    } else {
      searched = rest().size();
      if (fill()) continue;
      if (rest().empty()) return false;
      take_line(record, rest().size(), false);
    }
    const bool is_blank = record.bytes.find_first_not_of(kBlanks) == std::string::npos;
    if (format_ != InputFormat::jsonl || !is_blank) return true;
    searched = 0;
  }
}

void DocumentReader::take_line(Record& record, std::size_t bytes, bool has_end) {
  // Room behind the bytes saves the JSON parser a copy.
  constexpr std::size_t kPadding = 64;
  ++line_;
  record.bytes.clear();
  record.bytes.reserve(bytes + kPadding);
  record.bytes.assign(rest().substr(0, bytes));
  if (has_end && record.bytes.ends_with('\r')) record.bytes.pop_back();
  record.line = line_;
  record.has_end = has_end;
  position_ += bytes + (has_end ? 1 : 0);
}

bool DocumentReader::skip_long_line(Record& record) {
  record.line = ++line_;
  record.problem = "a line of more than " + std::to_string(most_line_bytes_) + " bytes";
  for (;;) {
    const std::size_t newline = rest().find('\n');
    if (newline != std::string_view::npos) {
      position_ += newline + 1;
      return true;
    }
    position_ = buffer_.size();
    if (!fill()) return true;
  }
}

}  // namespace bam::text
