#include <algorithm>
#include <cmath>

#include "eval/python_text.h"
#include "eval/ruler.h"
#include "eval/ruler_metric.h"
#include "eval/statistics.h"

namespace bam::eval {
namespace {

using io::ColumnType;

const std::vector<io::Column>& run_columns() {
  static const std::vector<io::Column> columns = [] {
    std::vector<io::Column> all = {{"metric", ColumnType::text},   {"source", ColumnType::text},
                                   {"haystack", ColumnType::text}, {"words", ColumnType::text},
                                   {"essay", ColumnType::text},    {"bos", ColumnType::text}};
    append_stamp_columns(all);
    all.push_back({"seconds", ColumnType::real, 3});
    return all;
  }();
  return columns;
}

std::vector<io::Column> with_run(std::vector<io::Column> columns) {
  columns.insert(columns.end(), run_columns().begin(), run_columns().end());
  return columns;
}

struct Summary {
  Index n = 0;
  Index full = 0;
  Index empty = 0;
  Index real_length = 0;
  Index read = 0;
  Index written = 0;
  GroupedMean score;
  double seconds = 0;
  bool are_timed = true;
};

}  // namespace

std::vector<io::Column> ruler_item_columns() {
  return with_run({{"task", ColumnType::text},
                   {"length", ColumnType::integer},
                   {"sample", ColumnType::integer},
                   {"real_length", ColumnType::integer},
                   {"depth", ColumnType::real, 4},
                   {"score", ColumnType::real},
                   {"read_tokens", ColumnType::integer},
                   {"written_tokens", ColumnType::integer},
                   {"pred", ColumnType::text},
                   {"outputs", ColumnType::text}});
}

std::vector<io::Column> ruler_columns() {
  return with_run({{"task", ColumnType::text},
                   {"length", ColumnType::integer},
                   {"real_length", ColumnType::integer},
                   {"n", ColumnType::integer},
                   {"score", ColumnType::real, 2},
                   {"score_se", ColumnType::real, 2},
                   {"successes", ColumnType::integer},
                   {"ci_low", ColumnType::real, 4},
                   {"ci_high", ColumnType::real, 4},
                   {"nulls", ColumnType::integer},
                   {"read_tokens", ColumnType::integer},
                   {"written_tokens", ColumnType::integer}});
}

ItemRow ruler_item_row(const std::string& task, std::optional<Index> length, const RulerItem& item,
                       const RulerTask& made_by, const RulerRun& run, bool with_times) {
  static const std::vector<io::Column> columns = ruler_item_columns();
  std::string outputs;
  for (const std::string& output : item.outputs) {
    outputs.append(outputs.empty() ? "[" : ", ").append(ascii_json(output));
  }
  std::vector<io::Cell> cells = {task};
  length ? cells.emplace_back(*length) : cells.emplace_back();
  cells.insert(cells.end(), {item.sample, item.real_length});
  item.depth ? cells.emplace_back(*item.depth) : cells.emplace_back();
  cells.insert(cells.end(), {item.score, item.read, item.written, item.prediction, outputs + "]",
                             std::string(made_by.match == RulerMatch::all ? "all" : "part"), run.source, run.haystack,
                             run.words, run.essay, run.bos});
  append_stamp(cells, run.stamp);
  with_times ? cells.emplace_back(item.seconds) : cells.emplace_back();
  return {columns, std::move(cells)};
}

const std::vector<std::string>& ruler_group_columns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> names = {"task", "length"};
    for (const io::Column& column : run_columns()) {
      if (column.name != "seconds") names.push_back(column.name);
    }
    return names;
  }();
  return columns;
}

void write_ruler(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times) {
  for (const ItemGroup& group : group_items(items, ruler_group_columns(), "sample")) {
    Summary sum;
    for (const ItemRow* row : group.rows) {
      ++sum.n;
      const double score = row->real("score");
      sum.full += score == 1 ? 1 : 0;
      sum.empty += clean_prediction(row->text("pred")).empty() ? 1 : 0;
      sum.score.add_group(100 * score, 1);
      sum.real_length = std::max(sum.real_length, row->integer("real_length"));
      sum.read += row->integer("read_tokens");
      sum.written += row->integer("written_tokens");
      if (row->is_missing("seconds")) sum.are_timed = false;
      if (sum.are_timed) sum.seconds += row->real("seconds");
    }
    const ItemRow& first = *group.rows.front();
    const Interval interval = wilson_interval(sum.full, sum.n);
    std::vector<io::Cell> row = {first.cell("task"), first.cell("length"), sum.real_length, sum.n, sum.score.mean()};
    if (const std::optional<double> error = sum.score.standard_error()) {
      row.emplace_back(*error);
    } else {
      row.emplace_back();
    }
    row.insert(row.end(), {sum.full, interval.low, interval.high, sum.empty, sum.read, sum.written});
    for (std::size_t i = 2; i < ruler_group_columns().size(); ++i) row.push_back(first.cell(ruler_group_columns()[i]));
    if (with_times) row.push_back(sum.are_timed ? io::Cell(sum.seconds) : io::Cell());
    table.row(row);
  }
}

}  // namespace bam::eval
