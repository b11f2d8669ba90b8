#include "eval/rolling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/clock.h"
#include "base/error.h"
#include "eval/python_text.h"
#include "eval/statistics.h"
#include "eval/token_source.h"
#include "io/peeked_source.h"
#include "io/pipe.h"

namespace bam::eval {
namespace {

using io::ColumnType;

class RollingReader {
 public:
  RollingReader(const LoadedModel& loaded, const RollingOptions& options)
      : loaded_(loaded), options_(options), reader_(*loaded.model, 1, options.context, options.chunk) {}

  RollingDocument score(std::string_view text) {
    const double start_s = now_s();
    RollingDocument document{.words = std::ssize(split_blanks(text)), .bytes = std::ssize(text)};
    std::vector<text::Token> ids = {loaded_.tokenizer->bos_id()};
    const std::vector<text::Token> rest = loaded_.tokenizer->encode(text);
    ids.insert(ids.end(), rest.begin(), rest.end());
    document.tokens = std::ssize(rest);
    for (const TokenWindow& window : rolling_windows(document.tokens, options_.context)) {
      document.nll_nats += score(ids, window);
      ++document.windows;
    }
    document.seconds = now_s() - start_s;
    return document;
  }

  SkipCounts take_counts() { return reader_.take_counts(); }

 private:
  double score(const std::vector<text::Token>& ids, const TokenWindow& window) {
    const auto begin = static_cast<std::size_t>(window.begin);
    const auto count = static_cast<std::size_t>(window.end - 1 - window.begin);
    std::vector<std::int32_t> targets(count, kNotScored);
    std::copy(ids.begin() + window.first_scored, ids.begin() + window.end,
              targets.begin() + (window.first_scored - 1 - window.begin));
    const std::vector<std::int32_t> first_key(count, 0);
    reader_.truncate(0);
    const Scores scores = read_rest(reader_, std::span(ids).subspan(begin, count), first_key, targets);
    double sum = 0;
    for (const double nll : scores.nll_nats) sum += nll;
    return sum;
  }

  const LoadedModel& loaded_;
  const RollingOptions& options_;
  Reader reader_;
};

std::unique_ptr<io::ByteSource> open_text(const std::string& path) {
  auto source = std::make_unique<io::PeekedSource>(io::open_source(path), io::kBeginningBytes);
  if (io::looks_like_shard(source->peeked())) {
    throw Error(source->name() + ": token shards, expected text: --rolling counts its words and bytes");
  }
  return source;
}

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"context", "bos"};
    all.insert(all.end(), run_stamp_names().begin(), run_stamp_names().end());
    return all;
  }();
  return names;
}

std::vector<io::Column> with_run(std::vector<io::Column> columns) {
  columns.push_back({"context", ColumnType::integer});
  columns.push_back({"bos", ColumnType::text});
  append_stamp_columns(columns);
  columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

}  // namespace

std::vector<TokenWindow> rolling_windows(Index tokens, Index context) {
  std::vector<TokenWindow> windows;
  for (Index scored = 0; scored < tokens;) {
    const Index end = std::min(tokens, scored + context);
    windows.push_back({std::max<Index>(0, end - context), scored + 1, end + 1});
    scored = end;
  }
  return windows;
}

SkipCounts evaluate_rolling(const LoadedModel& loaded, const std::vector<std::string>& paths,
                            const RollingOptions& options, const std::function<void(const RollingDocument&)>& done) {
  require_memory(*loaded.model, 1, options.context, options.chunk, options.memory_bytes, "--context");
  for (const std::string& path : paths) {
    if (!io::is_pipe(path)) open_text(path);  // one that is refused is so before another is scored
  }
  RollingReader reader(loaded, options);
  LostBytes lost_bytes;
  Index number = 0;
  for (const std::string& path : paths) {
    text::DocumentReader documents(io::decompress(open_text(path)), options.input);
    text::TextExtractor extractor(documents.format(), options.input.field);
    for (text::Record record; documents.next(record); ++number) {
      std::string_view text;
      const std::string problem = extractor.extract(record, text);
      std::string place = documents.name();
      if (record.line > 0) place.append(":").append(std::to_string(record.line));
      if (!problem.empty()) throw Error(place + ": " + problem);
      if (!options.share.has(number)) continue;
      lost_bytes.look(documents.name(), *loaded.tokenizer, text);
      RollingDocument document = reader.score(text);
      document.number = number;
      done(document);
    }
  }
  if (number == 0) throw Error(io::input_name(paths.front()) + ": no document");
  return reader.take_counts();
}

std::vector<io::Column> rolling_item_columns() {
  return with_run({{"document", ColumnType::integer},
                   {"tokens", ColumnType::integer},
                   {"words", ColumnType::integer},
                   {"bytes", ColumnType::integer},
                   {"windows", ColumnType::integer},
                   {"nll_sum", ColumnType::real}});
}

ItemRow rolling_item_row(const RollingDocument& document, const RollingRun& run, bool with_times) {
  static const std::vector<io::Column> columns = rolling_item_columns();
  std::vector<io::Cell> cells = {document.number,  document.tokens,   document.words, document.bytes,
                                 document.windows, document.nll_nats, run.context,    std::string("yes")};
  append_stamp(cells, run.stamp);
  cells.push_back(with_times ? io::Cell(document.seconds) : io::Cell());
  return {columns, std::move(cells)};
}

std::vector<io::Column> rolling_columns() {
  return with_run({{"documents", ColumnType::integer},
                   {"tokens", ColumnType::integer},
                   {"words", ColumnType::integer},
                   {"bytes", ColumnType::integer},
                   {"windows", ColumnType::integer},
                   {"nll", ColumnType::real, 6},
                   {"nll_se", ColumnType::real, 6},
                   {"word_perplexity", ColumnType::real, 6},
                   {"word_perplexity_se", ColumnType::real, 6},
                   {"byte_perplexity", ColumnType::real, 6},
                   {"byte_perplexity_se", ColumnType::real, 6},
                   {"bits_per_byte", ColumnType::real, 6},
                   {"bits_per_byte_se", ColumnType::real, 6}});
}

void write_rolling(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times) {
  for (const ItemGroup& group : group_items(items, run_columns(), "document")) {
    Index tokens = 0, words = 0, bytes = 0, windows = 0;
    GroupedMean by_token, by_word, by_byte;
    double seconds = 0;
    bool are_timed = true;
    for (const ItemRow* row : group.rows) {
      const double nll = row->real("nll_sum");
      tokens += row->integer("tokens");
      words += row->integer("words");
      bytes += row->integer("bytes");
      windows += row->integer("windows");
      by_token.add_group(nll, row->integer("tokens"));
      by_word.add_group(nll, row->integer("words"));
      by_byte.add_group(nll, row->integer("bytes"));
      are_timed = are_timed && !row->is_missing("seconds");
      if (are_timed) seconds += row->real("seconds");
    }
    if (tokens == 0) continue;  // a share of empty documents
    const ItemRow& first = *group.rows.front();
    std::vector<io::Cell> row = {std::ssize(group.rows), tokens, words, bytes, windows};
    // The error of f(x) is that of x times |f'(x)|.
    const auto add = [&row](double value, const GroupedMean& mean, double slope) {
      row.emplace_back(value);
      const std::optional<double> error = mean.standard_error();
      row.push_back(error ? io::Cell(*error * slope) : io::Cell());
    };
    add(by_token.mean(), by_token, 1);
    add(std::exp(by_word.mean()), by_word, std::exp(by_word.mean()));
    add(std::exp(by_byte.mean()), by_byte, std::exp(by_byte.mean()));
    add(by_byte.mean() / std::numbers::ln2, by_byte, 1 / std::numbers::ln2);
    for (const std::string& column : run_columns()) row.push_back(first.cell(column));
    if (with_times) row.push_back(are_timed ? io::Cell(seconds) : io::Cell());
    table.row(row);
  }
}

}  // namespace bam::eval
