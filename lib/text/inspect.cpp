#include "text/inspect.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/error.h"
#include "io/json.h"
#include "io/sha256.h"
#include "text/shard_contents.h"
#include "text/tokenizer.h"

namespace bam::text {
namespace {

// Counts what a pipe brings.
class CountingSource : public io::ByteSource {
 public:
  CountingSource(std::unique_ptr<io::ByteSource> inner, Index& bytes)
      : ByteSource(inner->name()), inner_(std::move(inner)), bytes_(bytes) {}
  Index read(std::span<char> buffer) override {
    const Index got = inner_->read(buffer);
    bytes_ += got;
    return got;
  }

 private:
  std::unique_ptr<io::ByteSource> inner_;
  Index& bytes_;
};

std::string digest_of(const std::vector<io::ShardTotals>& members) {
  if (members.size() == 1) return members.front().sha256;
  io::Sha256 digest;
  for (const io::ShardTotals& member : members) digest.update(member.sha256);
  return digest.hex();
}

constexpr int kMostFrequent = 10;

double ratio(Index over, Index under) {
  return under == 0 ? 0.0 : static_cast<double>(over) / static_cast<double>(under);
}

std::vector<io::Column> summary_columns() {
  using io::ColumnType;
  return {{"file", ColumnType::text},
          {"shards", ColumnType::integer},
          {"documents", ColumnType::integer},
          {"tokens", ColumnType::integer},
          {"tokens_per_document", ColumnType::real, 2},
          {"vocab_size", ColumnType::integer},
          {"dtype", ColumnType::text},
          {"bos_id", ColumnType::integer},
          {"eos_id", ColumnType::integer},
          {"tokenizer", ColumnType::text},
          {"kind", ColumnType::text},
          {"tokenizer_sha256", ColumnType::text},
          {"file_bytes", ColumnType::integer},
          {"bytes_per_token", ColumnType::real, 3},
          {"compression", ColumnType::real, 3},
          {"sha256", ColumnType::text},
          {"shortest", ColumnType::integer},
          {"longest", ColumnType::integer},
          {"lengths", ColumnType::text},
          {"distinct_ids", ColumnType::integer},
          {"frequent_ids", ColumnType::text},
          {"frequent_pieces", ColumnType::text}};
}

std::vector<io::Cell> summary_row(const ShardSummary& shard) {
  const io::ShardHeader& header = shard.header;
  const Index id_bytes = header.width == io::TokenWidth::u16 ? 2 : 4;
  io::Cell eos;
  if (header.eos_id) eos = Index{*header.eos_id};
  return {shard.name,
          shard.members,
          shard.documents,
          shard.tokens,
          ratio(shard.tokens, shard.documents),
          header.vocab_size,
          std::string(id_bytes == 2 ? "u16" : "u32"),
          Index{header.bos_id},
          eos,
          header.tokenizer_name,
          header.tokenizer_kind,
          header.tokenizer_sha256,
          shard.file_bytes,
          ratio(shard.file_bytes, shard.tokens),
          ratio(shard.tokens * id_bytes, shard.file_bytes),
          shard.sha256,
          shard.shortest,
          shard.longest,
          shard.lengths,
          shard.distinct,
          shard.frequent,
          shard.frequent_pieces};
}

std::vector<io::Column> validation_columns() {
  using io::ColumnType;
  return {{"file", ColumnType::text},      {"valid", ColumnType::text},  {"documents", ColumnType::integer},
          {"tokens", ColumnType::integer}, {"sha256", ColumnType::text}, {"problem", ColumnType::text}};
}

void write_validation(const std::vector<std::string>& paths, io::TableWriter& table) {
  std::string first_problem;
  Index bad = 0;
  for (const std::string& path : paths) {
    try {
      const ShardSummary shard = summarise_shard(path);
      table.row({shard.name, std::string("yes"), shard.documents, shard.tokens, shard.sha256, {}});
    } catch (const Error& error) {
      if (bad++ == 0) first_problem = error.what();
      table.row({io::input_name(path), std::string("no"), {}, {}, {}, std::string(error.what())});
    }
  }
  if (bad == 1) throw Error(first_problem);
  if (bad > 1)
    throw Error(first_problem + " (and " + std::to_string(bad - 1) + " more of " + std::to_string(paths.size()) +
                " files)");
}

// The text of documents, with what stands between them.
class DocumentWriter {
 public:
  DocumentWriter(const InputOptions& options, io::ByteSink& sink) : options_(options), sink_(sink) {}

  void write(std::string_view text) {
    switch (options_.format) {
      case InputFormat::automatic:
        if (!is_first_) sink_.write("\n");
        sink_.write(text);
        break;
      case InputFormat::text:
        sink_.write(text);
        break;
      case InputFormat::lines:
        sink_.write(std::string(text) + "\n");
        break;
      case InputFormat::jsonl:
        sink_.write(io::JsonWriter().begin_object().field(options_.field, text).end_object().text());
        sink_.write("\n");
        break;
    }
    is_first_ = false;
  }

 private:
  const InputOptions& options_;
  io::ByteSink& sink_;
  bool is_first_ = true;
};

void decode_shard(io::ShardReader& reader, const std::string& name, DocumentWriter& writer,
                  const std::function<void(Index)>& progress) {
  const auto tokenizer = make_tokenizer(reader.header(), reader.tokenizer_files(), name);
  std::vector<Token> document;
  for (std::span<const Token> ids = reader.next(); !ids.empty(); ids = reader.next()) {
    while (!ids.empty()) {
      // A BOS ends the document before it.
      if (ids.front() == tokenizer->bos_id() && !document.empty()) {
        writer.write(tokenizer->decode(document));
        document.clear();
      }
      const auto end = std::find(ids.begin() + 1, ids.end(), tokenizer->bos_id());
      document.insert(document.end(), ids.begin(), end);
      ids = ids.subspan(static_cast<std::size_t>(end - ids.begin()));
    }
    if (progress) progress(reader.tokens());
  }
  if (!document.empty()) writer.write(tokenizer->decode(document));
}

}  // namespace

ShardSummary summarise_shard(const std::string& path) {
  ShardSummary summary;
  io::ShardReader reader(std::make_unique<CountingSource>(io::open_source(path), summary.file_bytes));
  ContentCounts counts(reader.header().vocab_size);
  for (std::span<const Token> ids = reader.next(); !ids.empty(); ids = reader.next()) {
    counts.add(ids, reader.header().bos_id);
  }
  counts.finish();
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_regular_file(path, ignored)) {
    // Its index too, by which it is entered at random.
    const io::ShardFile file(path);
    if (file.tokens() != reader.tokens() || file.digest() != digest_of(reader.members())) {
      throw Error(path + ": damaged shard: its index and its frames differ");
    }
  }
  summary.name = io::input_name(path);
  summary.header = reader.header();
  summary.members = static_cast<Index>(reader.members().size());
  summary.documents = reader.documents();
  summary.tokens = reader.tokens();
  summary.sha256 = digest_of(reader.members());
  summary.shortest = counts.shortest();
  summary.longest = counts.longest();
  summary.lengths = counts.lengths();
  summary.distinct = counts.distinct();
  summary.frequent = counts.frequent(kMostFrequent);
  const auto tokenizer = make_tokenizer(reader.header(), reader.tokenizer_files(), summary.name);
  summary.frequent_pieces = counts.frequent_pieces(kMostFrequent, *tokenizer);
  return summary;
}

void write_summaries(const std::vector<std::string>& paths, bool check_all, io::ByteSink& sink, io::TableFormat format,
                     bool header) {
  if (check_all) {
    io::TableWriter table(sink, format, validation_columns(), header);
    write_validation(paths, table);
    return;
  }
  std::optional<io::TableWriter> table;  // not before there is a row: what fails leaves no header behind
  for (const std::string& path : paths) {
    const std::vector<io::Cell> row = summary_row(summarise_shard(path));
    if (!table) table.emplace(sink, format, summary_columns(), header);
    table->row(row);
  }
}

void decode_shards(const std::vector<std::string>& paths, const InputOptions& options, io::ByteSink& sink,
                   const std::function<void(Index)>& progress) {
  DocumentWriter writer(options, sink);
  Index before = 0;
  for (const std::string& path : paths) {
    io::ShardReader reader(path);
    decode_shard(reader, io::input_name(path), writer, [&](Index done) {
      if (progress) progress(before + done);
    });
    before += reader.tokens();
  }
}

}  // namespace bam::text
