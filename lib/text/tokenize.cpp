#include "text/tokenize.h"

#include <deque>
#include <filesystem>
#include <future>
#include <iomanip>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

std::string counted(Index count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// Long enough that starting a thread for it does not show, short enough that a few of them are little memory.
constexpr std::size_t kBatchBytes = 1 << 20;

struct Batch {
  std::string name;
  InputFormat format = InputFormat::text;
  std::vector<Record> records;
  std::size_t bytes = 0;
};

struct EncodedRecord {
  std::size_t ids = 0;  // how many of EncodedBatch::ids
  Index text_bytes = 0;
  Index line = 0;
  bool begins = true;
  bool ends = true;
  bool is_utf8 = true;
  std::string problem;
};

struct EncodedBatch {
  std::string name;
  Index read_bytes = 0;
  std::vector<Token> ids;
  std::vector<EncodedRecord> records;
};

void encode_record(const Tokenizer& tokenizer, const Record& record, std::string_view text, std::vector<Token>& ids) {
  if (record.begins && record.ends) {
    encode_document(tokenizer, text, ids);
    return;
  }
  if (record.begins) ids.push_back(tokenizer.bos_id());
  tokenizer.encode_part(text, record.begins, ids);
  if (record.ends && tokenizer.eos_id()) ids.push_back(*tokenizer.eos_id());
}

EncodedBatch encode_batch(const Tokenizer& tokenizer, const std::string& field, const Batch& batch) {
  EncodedBatch encoded{batch.name, static_cast<Index>(batch.bytes), {}, {}};
  TextExtractor extractor(batch.format, field);
  for (const Record& record : batch.records) {
    EncodedRecord result;
    result.line = record.line;
    result.begins = record.begins;
    result.ends = record.ends;
    const std::size_t start = encoded.ids.size();
    std::string_view text;
    result.problem = extractor.extract(record, text);
    if (result.problem.empty()) {
      try {
        encode_record(tokenizer, record, text, encoded.ids);
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
      : tokenizer_(tokenizer), options_(options), sink_(sink), progress_(progress), problems_(options.on_error) {}

  void add_file(const std::string& path) {
    DocumentReader reader(path, options_.input, [this](std::string_view text) { return tokenizer_.last_cut(text); });
    log::detail(reader.name() + ": read as " + name_of(reader.format()));
    Batch batch;
    for (Record record; reader.next(record);) {
      batch.bytes += record.bytes.size();
      batch.records.push_back(std::move(record));
      if (batch.bytes >= kBatchBytes) submit(std::exchange(batch, Batch()), reader);
    }
    submit(std::move(batch), reader);
    ++totals_.files;
  }

  TokenizeTotals finish() {
    while (!in_flight_.empty()) deliver_first();
    totals_.skipped = problems_.skipped();
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
    while (in_flight_.size() >= static_cast<std::size_t>(options_.threads)) deliver_first();
    const auto how = options_.threads == 1 ? std::launch::deferred : std::launch::async;
    in_flight_.push_back(std::async(
        how, [this, work = std::move(batch)] { return encode_batch(tokenizer_, options_.input.field, work); }));
  }

  void deliver_first() {
    const EncodedBatch batch = in_flight_.front().get();
    in_flight_.pop_front();
    std::span<const Token> rest = batch.ids;
    for (const EncodedRecord& record : batch.records) {
      deliver(batch.name, record, rest.first(record.ids));
      rest = rest.subspan(record.ids);
    }
    totals_.read_bytes += batch.read_bytes;
    if (progress_) progress_(totals_);
  }

  void deliver(const std::string& name, const EncodedRecord& record, std::span<const Token> ids) {
    if (!record.problem.empty()) {
      problems_.report(name, record.line, record.problem);
      return;
    }
    if (record.begins && record.ends && ids.empty()) {
      ++totals_.empty;
      return;
    }
    sink_(ids, record.ends);
    totals_.tokens += static_cast<Index>(ids.size());
    totals_.text_bytes += record.text_bytes;
    document_is_utf8_ = record.is_utf8 && (record.begins || document_is_utf8_);
    if (record.ends) {
      ++totals_.documents;
      if (!document_is_utf8_) ++totals_.not_utf8;
    }
  }

  const Tokenizer& tokenizer_;
  const TokenizeOptions& options_;
  const DocumentSink& sink_;
  const std::function<void(const TokenizeTotals&)>& progress_;
  ProblemPolicy problems_;
  TokenizeTotals totals_;
  bool document_is_utf8_ = true;
  std::deque<std::future<EncodedBatch>> in_flight_;  // destroyed first: its threads use the rest
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

void report(const TokenizeTotals& totals, double wall_s) {
  const std::string left_out =
      counted(totals.empty, "empty document") + ", " + counted(totals.skipped, "record") + " skipped";
  if (totals.documents == 0) throw Error("no tokens to write: " + left_out);
  if (totals.not_utf8 > 0) {
    log::warning(counted(totals.not_utf8, "document") +
                 " with bytes that are not UTF-8, which this tokenizer cannot keep: each became U+FFFD");
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
