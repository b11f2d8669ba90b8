#include "text/tokenize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/fingerprint.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/ordered_workers.h"
#include "io/sha256.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

std::string counted(Index count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// Long enough that handing it to a thread does not show, short enough that many of them are little memory.
constexpr std::size_t kBatchBytes = 128 << 10;

// A batch above this is a stretch of text that could not be cut.
constexpr std::size_t kUncutBytes = 2 * kBatchBytes;

// Bytes of text that are handed out and not yet delivered, for any number of threads. A byte becomes up to eleven ids,
// where a normaliser makes eighteen letters out of one.
constexpr std::size_t kMostBytesUnderWay = 3 << 20;

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

struct Batch {
  std::string name;
  InputFormat format = InputFormat::text;
  std::vector<Record> records;
  std::vector<Index> input_digests;  // up to the end of each record
  std::size_t bytes = 0;             // of memory
  std::size_t passed_over = 0;       // so many of the first were delivered by an earlier run
  std::optional<TextDigest> digest;  // of the document that these are parts of
};

struct EncodedRecord {
  std::size_t ids = 0;  // how many of EncodedBatch::ids
  Index text_bytes = 0;
  Index read_bytes = 0;
  Index line = 0;
  Index input_digest = 0;
  bool begins = true;
  bool ends = true;
  bool is_utf8 = true;
  std::optional<unsigned char> lost;
  bool passed_over = false;
  TextDigest digest{};
  std::string problem;
};

struct EncodedBatch {
  std::string name;
  std::size_t bytes = 0;
  std::vector<Token> ids;
  std::vector<EncodedRecord> records;
};

// What a record takes beside its text, so that lines of nothing are bounded too.
constexpr std::size_t kRecordBytes = sizeof(Record) + sizeof(EncodedRecord);

bool looks_at_texts(const TokenizeOptions& options) {
  return options.drop_duplicates || options.held_out_share > 0;
}

bool is_held_out(const TokenizeOptions& options, const TextDigest& digest) {
  return options.held_out_share > 0 && std::ldexp(static_cast<double>(digest[0]), -64) < options.held_out_share;
}

// Throws Error. A document that is whole has its BOS and EOS; those of one in parts are put around it when it is
// delivered.
void encode_text(const Tokenizer& tokenizer, std::string_view text, EncodedRecord& record, std::vector<Token>& ids) {
  const std::size_t start = ids.size();
  if (record.begins && record.ends) {
    record.lost = encode_document(tokenizer, text, ids);
  } else {
    record.lost = tokenizer.encode_part(text, record.begins, ids);
  }
  record.ids = ids.size() - start;
  const std::size_t borders = record.begins && record.ends ? 1 : 0;
  const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(std::min(start + borders, ids.size()));
  if (std::find(begin, ids.end(), tokenizer.bos_id()) != ids.end()) {
    throw Error("the text of " + tokenizer.piece(tokenizer.bos_id()) + " in a document, which would begin another one");
  }
  record.is_utf8 = tokenizer.fidelity() == Fidelity::bytes || is_utf8(text);
}

EncodedBatch encode_batch(const Tokenizer& tokenizer, const TokenizeOptions& options, Batch&& batch) {
  EncodedBatch encoded{batch.name, batch.bytes, {}, {}};
  const TextExtractor extractor(batch.format, options.input.field);
  for (Record& record : batch.records) {
    EncodedRecord result;
    result.line = record.line;
    result.input_digest = batch.input_digests[encoded.records.size()];
    result.read_bytes = static_cast<Index>(record.bytes.size());
    result.begins = record.begins;
    result.ends = record.ends;
    result.passed_over = encoded.records.size() < batch.passed_over;
    std::string_view text;
    result.problem = extractor.extract(record, text);
    result.text_bytes = static_cast<Index>(text.size());
    if (looks_at_texts(options) && result.problem.empty()) {
      result.digest = batch.digest ? *batch.digest : digest_of(text);
    }
    if (result.problem.empty() && (!result.passed_over || is_held_out(options, result.digest))) {
      const std::size_t start = encoded.ids.size();
      try {
        encode_text(tokenizer, text, result, encoded.ids);
      } catch (const Error& error) {
        encoded.ids.resize(start);
        result.ids = 0;
        result.problem = error.what();
      }
    }
    record.bytes = std::string();
    encoded.records.push_back(std::move(result));
  }
  // Of a long text that cannot be cut each thread would keep what the SentencePiece library took, 200 bytes for each.
  if (batch.bytes > kUncutBytes) give_back_free_memory();
  return encoded;
}

// Ends of the parts of a text, each of about so many bytes, or of more where it cannot be cut.
std::vector<std::size_t> parts_of(std::string_view text, const Tokenizer& tokenizer) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (std::size_t wanted = kBatchBytes; text.size() - begin > wanted;) {
    const Index cut = tokenizer.last_cut(text.substr(begin, wanted));
    if (cut > 0) {
      begin += static_cast<std::size_t>(cut);
      ends.push_back(begin);
    }
    wanted = cut > 0 ? kBatchBytes : 2 * wanted;
  }
  ends.push_back(text.size());
  return ends;
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
        encoders_(options.threads, [this] {
          return [this](Batch&& batch) { return encode_batch(tokenizer_, options_, std::move(batch)); };
        }) {}

  void add_file(const std::string& path) {
    Cutter cutter;
    if (!looks_at_texts(options_)) cutter = [this](std::string_view text) { return tokenizer_.last_cut(text); };
    DocumentReader reader(path, options_.input, std::move(cutter));
    log::detail(reader.name() + ": read as " + name_of(reader.format()));
    if (reader.is_doubtful()) {
      log::warning(reader.name() + ": begins with { but with no object, read as text; --input jsonl reads JSON lines");
    }
    for (Record record; reader.next(record);) add_record(std::move(record), reader);
    submit(reader.name(), reader.format());
    if (files_++ == 0) first_file_ = reader.name();
    has_input_ = has_input_ || !reader.is_empty();
  }

  TokenizeTotals finish() {
    while (!encoders_.is_empty()) deliver_first();
    if (files_ > 0 && !has_input_) {
      throw Error(first_file_ + ": empty, expected text" + (files_ > 1 ? " there or in the other files" : ""));
    }
    if (to_pass_over_ > 0) {
      refuse_input("it ends before " + counted(options_.before.records, "document"));
    }
    totals_.files = files_;
    return totals_;
  }

 private:
  // What becomes of a document; not known before it has ids.
  enum class Fate { empty, kept, held_out, duplicate, skipped };

  // The document whose parts are being delivered.
  struct Document {
    Fate fate = Fate::empty;
    Index text_bytes = 0;
    bool is_utf8 = true;
    bool loses = false;
    bool has_bos = false;  // of one in parts: it is written
  };

  static std::string name_of(InputFormat format) {
    if (format == InputFormat::text) return "text";
    return format == InputFormat::lines ? "lines" : "JSON lines";
  }

  void add_record(Record record, const DocumentReader& reader) {
    // That a document begins or ends counts too: files are not one.
    input_digest_ = fingerprint(record.bytes, input_digest_ + (record.begins ? 1 : 0) + (record.ends ? 2 : 0));
    const bool is_passed_over = to_pass_over_ > 0;
    if (is_passed_over && record.ends && --to_pass_over_ == 0) require_same_input();
    if (options_.only_compares && !is_passed_over) refuse_input("it goes on behind its former end");
    if (is_passed_over && (options_.only_compares || !looks_at_texts(options_))) return;
    if (record.begins && record.ends && record.bytes.size() > kBatchBytes) {
      submit(reader.name(), reader.format());
      return add_long(std::move(record), is_passed_over, reader);
    }
    append(std::move(record), is_passed_over);
    if (batch_.bytes >= kBatchBytes) submit(reader.name(), reader.format());
  }

  void require_same_input() const {
    if (input_digest_ == options_.before.input_digest) return;
    refuse_input("it differs in the first " + counted(options_.before.records, "document"));
  }

  [[noreturn]] void refuse_input(const std::string& why) const {
    throw Error(options_.before_from + ": made of other input: " + why +
                ", expected the same input or a folder without shards");
  }

  // A long document goes through in parts, as a text does: of what it becomes only some are in memory, and all threads
  // have a share in it. Its text is taken out here, since no part may go before the whole is known to be without
  // problem.
  void add_long(Record record, bool is_passed_over, const DocumentReader& reader) {
    std::string_view text;
    record.problem = TextExtractor(reader.format(), options_.input.field).extract(record, text);
    std::optional<TextDigest> digest;
    if (looks_at_texts(options_) && record.problem.empty()) digest = digest_of(text);
    std::size_t begin = 0;
    for (const std::size_t end : parts_of(text, tokenizer_)) {
      Record part;
      part.line = record.line;
      part.problem = record.problem;
      part.begins = begin == 0;
      part.ends = end == text.size();
      part.bytes = text.substr(begin, end - begin);
      begin = end;
      if (part.ends) record.bytes = std::string();
      append(std::move(part), is_passed_over);
      batch_.digest = digest;
      submit(reader.name(), InputFormat::text);
    }
  }

  void append(Record record, bool is_passed_over) {
    batch_.bytes += record.bytes.size() + kRecordBytes;
    batch_.passed_over += is_passed_over ? 1 : 0;
    batch_.records.push_back(std::move(record));
    batch_.input_digests.push_back(input_digest_);
  }

  void submit(const std::string& name, InputFormat format) {
    if (batch_.records.empty()) return;
    batch_.name = name;
    batch_.format = format;
    while (encoders_.is_full() || (under_way_ > 0 && under_way_ + batch_.bytes > kMostBytesUnderWay)) deliver_first();
    under_way_ += batch_.bytes;
    encoders_.submit(std::exchange(batch_, Batch()));
  }

  void deliver_first() {
    const EncodedBatch batch = encoders_.take();
    under_way_ -= batch.bytes;
    std::span<const Token> rest = batch.ids;
    for (const EncodedRecord& record : batch.records) {
      const std::span<const Token> ids = rest.first(record.ids);
      rest = rest.subspan(record.ids);
      if (record.passed_over) {
        deliver_again(record, ids);
      } else {
        deliver(batch.name, record, ids);
      }
    }
    if (progress_) progress_(totals_);
  }

  // Of what an earlier run delivered: to hold out, and to remember.
  void deliver_again(const EncodedRecord& record, std::span<const Token> ids) {
    if (record.begins) document_ = {};
    if (!record.problem.empty()) document_.fate = Fate::skipped;
    decide(record, ids);
    if (document_.fate == Fate::held_out) write(record, ids);
  }

  void deliver(const std::string& name, const EncodedRecord& record, std::span<const Token> ids) {
    if (record.begins) document_ = {};
    totals_.read_bytes += record.read_bytes;
    if (record.lost) note_lost(name, record);
    if (!record.problem.empty()) {
      skip(name, record);
    } else {
      decide(record, ids);
    }
    document_.text_bytes += record.text_bytes;
    document_.is_utf8 = document_.is_utf8 && record.is_utf8;
    document_.loses = document_.loses || record.lost;
    if (record.ends) {
      totals_.input_digest = record.input_digest;
      count_document();
    }
    if (document_.fate == Fate::kept || document_.fate == Fate::held_out) write(record, ids);
  }

  // A document of which something is written already cannot be left out any more.
  void skip(const std::string& name, const EncodedRecord& record) {
    if (!record.begins) throw Error(name + ": " + record.problem);
    problems_.report(name, record.line, record.problem);
    document_.fate = Fate::skipped;
  }

  // With its first ids; remembers its text.
  void decide(const EncodedRecord& record, std::span<const Token> ids) {
    const bool has_ids = !ids.empty() || (record.passed_over && record.text_bytes > 0);
    if (document_.fate != Fate::empty || !has_ids) return;
    if (options_.drop_duplicates && !seen_.insert(record.digest).second) {
      document_.fate = Fate::duplicate;
    } else {
      document_.fate = is_held_out(options_, record.digest) ? Fate::held_out : Fate::kept;
    }
  }

  void count_document() {
    ++totals_.records;
    switch (document_.fate) {
      case Fate::empty:
        ++totals_.empty;
        break;
      case Fate::skipped:
        ++totals_.skipped;
        return;
      case Fate::duplicate:
        ++totals_.duplicates;
        return;
      case Fate::held_out:
        ++totals_.held_out;
        return;
      case Fate::kept:
        ++totals_.documents;
        totals_.text_bytes += document_.text_bytes;
        if (!document_.is_utf8) ++totals_.not_utf8;
        break;
    }
    if (document_.loses) ++totals_.lossy;
  }

  void write(const EncodedRecord& record, std::span<const Token> ids) {
    const bool is_kept = document_.fate == Fate::kept;
    const DocumentSink& sink = is_kept ? sink_ : options_.held_out;
    const auto send = [&](std::span<const Token> some, bool ends) {
      if (is_kept) totals_.tokens += std::ssize(some);
      sink(some, ends, totals_);
    };
    if (record.begins && record.ends) return send(ids, true);
    const Token bos = tokenizer_.bos_id();
    if (!std::exchange(document_.has_bos, true)) send({&bos, 1}, false);
    send(ids, false);
    if (!record.ends) return;
    const std::optional<Token> eos = tokenizer_.eos_id();
    send({eos ? &*eos : nullptr, eos ? std::size_t{1} : 0}, true);
  }

  // The first is shown: what is lost must be known before a long run ends.
  void note_lost(const std::string& name, const EncodedRecord& record) {
    if (shown_lost_) return;
    shown_lost_ = true;
    const std::string where = record.line > 0 ? name + ":" + std::to_string(record.line) : name;
    log::warning(where + ": " + lost_message(*record.lost));
  }

  const Tokenizer& tokenizer_;
  const TokenizeOptions& options_;
  const DocumentSink& sink_;
  const std::function<void(const TokenizeTotals&)>& progress_;
  ProblemPolicy problems_;
  TokenizeTotals totals_;
  Index files_ = 0;
  std::string first_file_;
  bool has_input_ = false;
  Index to_pass_over_;
  Index input_digest_ = 0;
  Batch batch_;                // being filled
  std::size_t under_way_ = 0;  // bytes submitted and not yet delivered
  bool shown_lost_ = false;
  Document document_;
  std::unordered_set<TextDigest, DigestHash> seen_;
  OrderedWorkers<Batch, EncodedBatch> encoders_;  // destroyed first: its threads use the rest
};

std::string left_out(const TokenizeTotals& totals, bool holds_out) {
  std::string what = counted(totals.empty, "empty document") + ", " + counted(totals.skipped, "record") + " skipped";
  if (totals.duplicates > 0) what += ", " + counted(totals.duplicates, "duplicate") + " dropped";
  if (holds_out) what += ", " + counted(totals.held_out, "document") + " held out";
  return what;
}

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

void require_documents(const TokenizeTotals& totals) {
  if (totals.documents == 0) throw Error("no tokens to write: " + left_out(totals, totals.held_out > 0));
}

void report(const TokenizeTotals& totals, double wall_s, bool holds_out) {
  require_documents(totals);
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
       << " bytes a token), " << left_out(totals, holds_out) << ", in " << human_seconds(wall_s);
  if (wall_s > 0) line << ", " << human_bytes(static_cast<double>(totals.text_bytes) / wall_s) << "/s";
  log::info(line.str());
}

}  // namespace bam::text
