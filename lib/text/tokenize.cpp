#include "text/tokenize.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/ordered_workers.h"
#include "io/sha256.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

std::string counted(Index count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// Long enough that handing it to a thread does not show, short enough that a few of them are little memory.
constexpr std::size_t kBatchBytes = 1 << 20;

struct Batch {
  std::string name;
  InputFormat format = InputFormat::text;
  std::vector<Record> records;
  std::size_t bytes = 0;
  std::size_t passed_over = 0;  // so many of the first were delivered by an earlier run
};

// The beginning of a text's SHA-256.
using TextDigest = std::array<std::uint64_t, 2>;

TextDigest digest_of(std::string_view text) {
  const std::string digits = io::sha256_hex(text);
  TextDigest digest{};
  for (std::size_t i = 0; i < 32; ++i) {
    const char c = digits[i];
    digest[i / 16] = digest[i / 16] << 4U | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return digest;
}

struct DigestHash {
  std::size_t operator()(const TextDigest& digest) const { return digest[1]; }
};

struct EncodedRecord {
  std::size_t ids = 0;  // how many of EncodedBatch::ids
  Index text_bytes = 0;
  Index read_bytes = 0;
  Index line = 0;
  bool begins = true;
  bool ends = true;
  bool is_utf8 = true;
  std::optional<unsigned char> lost;
  bool held_out = false;
  bool passed_over = false;
  TextDigest digest{};
  std::string problem;
};

struct EncodedBatch {
  std::string name;
  std::vector<Token> ids;
  std::vector<EncodedRecord> records;
};

// Returns what encode_document does.
std::optional<unsigned char> encode_record(const Tokenizer& tokenizer, const Record& record, std::string_view text,
                                           std::vector<Token>& ids) {
  if (record.begins && record.ends) return encode_document(tokenizer, text, ids);
  if (record.begins) ids.push_back(tokenizer.bos_id());
  const std::optional<unsigned char> lost = tokenizer.encode_part(text, record.begins, ids);
  if (record.ends && tokenizer.eos_id()) ids.push_back(*tokenizer.eos_id());
  return lost;
}

bool looks_at_texts(const TokenizeOptions& options) {
  return options.drop_duplicates || options.held_out_share > 0;
}

EncodedBatch encode_batch(const Tokenizer& tokenizer, const TokenizeOptions& options, const Batch& batch) {
  EncodedBatch encoded{batch.name, {}, {}};
  TextExtractor extractor(batch.format, options.input.field);
  for (const Record& record : batch.records) {
    EncodedRecord result;
    result.line = record.line;
    result.read_bytes = static_cast<Index>(record.bytes.size());
    result.begins = record.begins;
    result.ends = record.ends;
    const std::size_t start = encoded.ids.size();
    std::string_view text;
    result.passed_over = encoded.records.size() < batch.passed_over;
    if (!result.passed_over || looks_at_texts(options)) result.problem = extractor.extract(record, text);
    if (looks_at_texts(options) && result.problem.empty()) {
      result.digest = digest_of(text);
      result.held_out = std::ldexp(static_cast<double>(result.digest[0]), -64) < options.held_out_share;
    }
    if (result.problem.empty() && (!result.passed_over || result.held_out)) {
      try {
        result.lost = encode_record(tokenizer, record, text, encoded.ids);
        result.is_utf8 = tokenizer.fidelity() == Fidelity::bytes || is_utf8(text);
      } catch (const Error& error) {
        encoded.ids.resize(start);
        result.problem = error.what();
      }
    }
    result.text_bytes = static_cast<Index>(text.size());
    result.ids = encoded.ids.size() - start;
    encoded.records.push_back(std::move(result));
  }
  return encoded;
}

class Pipeline {
 public:
  Pipeline(const Tokenizer& tokenizer, const TokenizeOptions& options, const DocumentSink& sink,
           const std::function<void(const TokenizeTotals&)>& progress)
      : tokenizer_(tokenizer),
        options_(options),
        sink_(sink),
        progress_(progress),
        problems_(options.on_error),
        totals_(options.before),
        to_pass_over_(options.before.records),
        encoders_(options.threads,
                  [this] { return [this](Batch&& batch) { return encode_batch(tokenizer_, options_, batch); }; }) {}

  void add_file(const std::string& path) {
    Cutter cutter;
    if (!looks_at_texts(options_)) cutter = [this](std::string_view text) { return tokenizer_.last_cut(text); };
    DocumentReader reader(path, options_.input, std::move(cutter));
    log::detail(reader.name() + ": read as " + name_of(reader.format()));
    Batch batch;
    for (Record record; reader.next(record);) {
      batch.bytes += record.bytes.size();
      if (to_pass_over_ > 0) {
        --to_pass_over_;
        ++batch.passed_over;
      }
      batch.records.push_back(std::move(record));
      if (batch.bytes >= kBatchBytes) submit(std::exchange(batch, Batch()), reader);
    }
    submit(std::move(batch), reader);
    ++files_;
  }

  TokenizeTotals finish() {
    while (!encoders_.is_empty()) deliver_first();
    totals_.files = files_;
    return totals_;
  }

 private:
  static std::string name_of(InputFormat format) {
    if (format == InputFormat::text) return "text";
    return format == InputFormat::lines ? "lines" : "JSON lines";
  }

  void submit(Batch batch, const DocumentReader& reader) {
    if (batch.records.empty()) return;
    batch.name = reader.name();
    batch.format = reader.format();
    while (encoders_.is_full()) deliver_first();
    encoders_.submit(std::move(batch));
  }

  void deliver_first() {
    const EncodedBatch batch = encoders_.take();
    std::span<const Token> rest = batch.ids;
    for (const EncodedRecord& record : batch.records) {
      deliver(batch.name, record, rest.first(record.ids));
      rest = rest.subspan(record.ids);
    }
    if (progress_) progress_(totals_);
  }

  void deliver(const std::string& name, const EncodedRecord& record, std::span<const Token> ids) {
    if (record.passed_over) {
      if (record.problem.empty() && is_new(record) && record.held_out && !ids.empty()) {
        options_.held_out(ids, true, totals_);
      }
      return;
    }
    ++totals_.records;
    if (record.lost) note_lost(name, record);
    totals_.read_bytes += record.read_bytes;
    if (!record.problem.empty()) {
      problems_.report(name, record.line, record.problem);
      ++totals_.skipped;
    } else if (record.begins && record.ends && ids.empty()) {
      ++totals_.empty;
      if (record.lost) ++totals_.lossy;
    } else if (!is_new(record)) {
      ++totals_.duplicates;
    } else if (record.held_out) {
      ++totals_.held_out;
      options_.held_out(ids, true, totals_);
    } else {
      count(record, ids);
      sink_(ids, record.ends, totals_);
    }
  }

  // The first is shown: what is lost must be known before a long run ends.
  void note_lost(const std::string& name, const EncodedRecord& record) {
    if (shown_lost_) return;
    shown_lost_ = true;
    const std::string where = record.line > 0 ? name + ":" + std::to_string(record.line) : name;
    log::warning(where + ": " + lost_message(*record.lost));
  }

  // Remembers its text.
  bool is_new(const EncodedRecord& record) { return !options_.drop_duplicates || seen_.insert(record.digest).second; }

  void count(const EncodedRecord& record, std::span<const Token> ids) {
    totals_.tokens += static_cast<Index>(ids.size());
    totals_.text_bytes += record.text_bytes;
    document_is_utf8_ = record.is_utf8 && (record.begins || document_is_utf8_);
    document_loses_ = record.lost || (!record.begins && document_loses_);
    if (record.ends) {
      ++totals_.documents;
      if (document_loses_) ++totals_.lossy;
      if (!document_is_utf8_) ++totals_.not_utf8;
    }
  }

  const Tokenizer& tokenizer_;
  const TokenizeOptions& options_;
  const DocumentSink& sink_;
  const std::function<void(const TokenizeTotals&)>& progress_;
  ProblemPolicy problems_;
  TokenizeTotals totals_;
  Index files_ = 0;
  Index to_pass_over_;
  std::unordered_set<TextDigest, DigestHash> seen_;
  bool document_is_utf8_ = true;
  bool document_loses_ = false;
  bool shown_lost_ = false;
  OrderedWorkers<Batch, EncodedBatch> encoders_;  // destroyed first: its threads use the rest
};

}  // namespace

void ProblemPolicy::report(const std::string& name, Index line, const std::string& problem) {
  constexpr Index kMostShown = 10;
  const std::string where = line > 0 ? name + ":" + std::to_string(line) : name;
  if (on_error_ == OnError::fail) throw Error(where + ": " + problem);
  const std::string message = "skipped " + where + ": " + problem;
  if (skipped_ == kMostShown) log::warning("further skipped records are only counted (-v shows them)");
  if (skipped_++ < kMostShown) {
    log::warning(message);
  } else {
    log::detail(message);
  }
}

TokenizeTotals tokenize_files(const std::vector<std::string>& paths, const Tokenizer& tokenizer,
                              const TokenizeOptions& options, const DocumentSink& sink,
                              const std::function<void(const TokenizeTotals&)>& progress) {
  Pipeline pipeline(tokenizer, options, sink, progress);
  for (const std::string& path : paths) pipeline.add_file(path);
  return pipeline.finish();
}

Index bytes_to_read(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  Index total = 0;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool is_plain = path != "-" && !path.ends_with(".zst") && !path.ends_with(".gz");
    if (!is_plain || !fs::is_regular_file(path, error)) return 0;
    const auto bytes = fs::file_size(path, error);
    if (error) return 0;
    total += static_cast<Index>(bytes);
  }
  return total;
}

Index bytes_of_file(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return -1;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? -1 : static_cast<Index>(bytes);
}

void report(const TokenizeTotals& totals, double wall_s) {
  std::string left_out =
      counted(totals.empty, "empty document") + ", " + counted(totals.skipped, "record") + " skipped";
  if (totals.duplicates > 0) left_out += ", " + counted(totals.duplicates, "duplicate") + " dropped";
  if (totals.held_out > 0) left_out += ", " + counted(totals.held_out, "document") + " held out";
  if (totals.documents == 0) throw Error("no tokens to write: " + left_out);
  if (totals.not_utf8 > 0) {
    log::warning(counted(totals.not_utf8, "document") +
                 " with bytes that are not UTF-8, which this tokenizer cannot keep: each became U+FFFD");
  }
  if (totals.lossy > 0) {
    log::warning(counted(totals.lossy, "document") +
                 " with bytes that this tokenizer has no token for, which are lost");
  }
  const double bytes_per_token = static_cast<double>(totals.text_bytes) / static_cast<double>(totals.tokens);
  std::ostringstream line;
  line << counted(totals.documents, "document") << ", " << counted(totals.tokens, "token") << " from "
       << counted(totals.text_bytes, "byte") << std::fixed << std::setprecision(2) << " (" << bytes_per_token
       << " bytes a token), " << left_out << ", in " << human_seconds(wall_s);
  if (wall_s > 0) line << ", " << human_bytes(static_cast<double>(totals.text_bytes) / wall_s) << "/s";
  log::info(line.str());
}

}  // namespace bam::text
