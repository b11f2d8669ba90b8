// Result tables: tab-separated with a header row, or JSON lines. Columns are declared once; every row is one write.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/types.h"
#include "io/stream.h"

namespace bam::io {

enum class TableFormat { tsv, jsonl };

enum class ColumnType { integer, real, text };

struct Column {
  std::string name;
  ColumnType type = ColumnType::text;
  // Reals: digits after the point, or -1 for the shortest text that reads back as the same double.
  int digits = -1;
};

// std::monostate is a missing value: an empty cell, or null.
using Cell = std::variant<std::monostate, Index, double, std::string>;

// tsv    cells separated by one tab; in text, tab, newline, carriage return and backslash are written \t \n \r \\ .
//        Reals that are not finite: nan, inf, -inf.
// jsonl  one object per row, members named as the columns; reals that are not finite: null.
class TableWriter {
 public:
  // `sink` outlives the table. With tsv and `header`, the header row is written at once.
  TableWriter(ByteSink& sink, TableFormat format, std::vector<Column> columns, bool header = true);

  // As many cells as columns, of the columns' types (an integer may stand in a real column); else std::logic_error.
  void row(const std::vector<Cell>& cells);

 private:
  ByteSink& sink_;
  TableFormat format_;
  std::vector<Column> columns_;
};

}  // namespace bam::io
