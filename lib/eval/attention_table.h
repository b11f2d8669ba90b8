// What heads attend to on one text, as tables: by key, by distance, and the keys with most attention.
#pragma once

#include <optional>
#include <vector>

#include "eval/attention_probe.h"
#include "eval/run_stamp.h"
#include "io/table.h"

namespace bam::eval {

enum class AttentionBy : std::uint8_t { key, distance, top };
const NameTable<AttentionBy>& attention_by_names();

// A text that was read, and the line of it that holds a passkey, where it is such a prompt.
struct AttentionText {
  std::vector<text::Token> ids;
  std::optional<Index> needle;  // its first id
  Index needle_tokens = 0;
  std::string bos;  // yes or no
};

struct AttentionView {
  AttentionBy by = AttentionBy::key;
  Index bin = 0;   // keys, or distances, in a row; 0: as many as make kMostStrips rows a query, or growing bins
  Index top = 10;  // by top: keys of a query
  std::vector<Index> layers, heads, queries;  // in order
};

// by key: rows of a query, at most, unless a bin is given.
inline constexpr Index kMostStrips = 512;

std::vector<io::Column> attention_columns(AttentionBy by, bool with_times);

class AttentionTable {
 public:
  // All outlive the table. Seconds are told from now on; none without.
  AttentionTable(io::TableWriter& rows, const AttentionText& text, const text::Tokenizer& tokenizer,
                 const AttentionView& view, RunStamp stamp, bool with_times);

  // A row of a chosen layer, head and query. Throws Error where it is not made of numbers.
  void add(const AttentionRow& row);
  // Behind the last one: what is a mean over queries is written.
  void end();

 private:
  struct Mass {
    double attention = 0, content = 0, prior = 0, uniform = 0;
  };
  void add_keys(const AttentionRow& row);
  void add_distances(const AttentionRow& row);
  void add_top(const AttentionRow& row);
  void write(std::vector<io::Cell> cells);
  io::Cell needle_keys(Index from, Index to) const;
  std::string piece(Index position) const;

  io::TableWriter& rows_;
  const AttentionText& text_;
  const text::Tokenizer& tokenizer_;
  const AttentionView& view_;
  RunStamp stamp_;
  std::optional<double> start_s_;
  std::vector<Index> edges_;                            // by distance: first distance of each bin, and the end
  std::vector<std::vector<std::vector<Mass>>> masses_;  // by distance: sums over queries, [layer][head][bin]
  std::vector<Index> order_;
};

}  // namespace bam::eval
