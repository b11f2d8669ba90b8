#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "eval/mcq.h"
#include "eval/statistics.h"

namespace bam::eval {
namespace {

using io::ColumnType;

const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"task", "shots", "bos", "context"};
    all.insert(all.end(), run_stamp_names().begin(), run_stamp_names().end());
    return all;
  }();
  return names;
}

std::vector<io::Column> with_run(std::vector<io::Column> columns) {
  for (const std::string& name : run_columns()) {
    if (name != "task") columns.push_back({name, ColumnType::text});
  }
  columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

// One accuracy over the items of several subjects.
class Accuracy {
 public:
  void add_subject(Index right, Index n) {
    right_ += right;
    n_ += n;
    ++subjects_;
    const double p = static_cast<double>(right) / static_cast<double>(n);
    squares_ += static_cast<double>(n) * p * (1 - p);
  }

  double mean() const { return static_cast<double>(right_) / static_cast<double>(n_); }
  // Of one subject the standard deviation over sqrt(n); of several the harness's pooled one.
  std::optional<double> standard_error() const {
    if (n_ <= subjects_) return std::nullopt;
    const auto n = static_cast<double>(n_);
    // (n_i - 1) s_i^2 = n_i p_i (1 - p_i), and the pooled variance is their sum over n - subjects.
    return std::sqrt(squares_ / static_cast<double>(n_ - subjects_) / n);
  }
  Index right() const { return right_; }

 private:
  Index right_ = 0;
  Index n_ = 0;
  Index subjects_ = 0;
  double squares_ = 0;
};

struct Summary {
  Index n = 0;
  Accuracy sum, characters, bytes;
  Index ties = 0, shared = 0, cut = 0, read = 0;
  double seconds = 0;
  bool are_timed = true;

  void add(const ItemGroup& group) {
    Index right[3] = {};
    for (const ItemRow* row : group.rows) {
      right[0] += row->integer("acc");
      right[1] += row->integer("acc_norm");
      right[2] += row->integer("acc_bytes");
      ties += row->integer("tie");
      shared += row->integer("shared_token");
      cut += row->integer("cut_tokens") > 0 ? 1 : 0;
      read += row->integer("read_tokens");
      if (row->is_missing("seconds")) are_timed = false;
      if (are_timed) seconds += row->real("seconds");
    }
    const Index size = std::ssize(group.rows);
    n += size;
    sum.add_subject(right[0], size);
    characters.add_subject(right[1], size);
    bytes.add_subject(right[2], size);
  }
};

void write_summary(io::TableWriter& table, const Summary& all, const ItemRow& first, const std::string& subject,
                   bool with_times) {
  const Interval interval = wilson_interval(all.sum.right(), all.n);
  std::vector<io::Cell> row = {first.cell("task"), subject, all.n, all.sum.right()};
  const auto add = [&row](const Accuracy& accuracy) {
    row.emplace_back(accuracy.mean());
    const std::optional<double> error = accuracy.standard_error();
    row.push_back(error ? io::Cell(*error) : io::Cell());
  };
  add(all.sum);
  row.insert(row.end(), {interval.low, interval.high});
  add(all.characters);
  add(all.bytes);
  row.insert(row.end(), {all.ties, all.shared, all.cut, all.read});
  for (const std::string& name : run_columns()) {
    if (name != "task") row.push_back(first.cell(name));
  }
  if (with_times) row.push_back(all.are_timed ? io::Cell(all.seconds) : io::Cell());
  table.row(row);
}

}  // namespace

std::vector<io::Column> mcq_item_columns() {
  return with_run({{"task", ColumnType::text},
                   {"subject", ColumnType::text},
                   {"item", ColumnType::integer},
                   {"id", ColumnType::text},
                   {"gold", ColumnType::integer},
                   {"loglikelihoods", ColumnType::text},
                   {"pred", ColumnType::integer},
                   {"pred_norm", ColumnType::integer},
                   {"pred_bytes", ColumnType::integer},
                   {"acc", ColumnType::integer},
                   {"acc_norm", ColumnType::integer},
                   {"acc_bytes", ColumnType::integer},
                   {"tie", ColumnType::integer},
                   {"shared_token", ColumnType::integer},
                   {"cut_tokens", ColumnType::integer},
                   {"read_tokens", ColumnType::integer}});
}

ItemRow mcq_item_row(const McqItem& item, Index number, const McqAnswer& answer, const McqRun& run, bool with_times) {
  static const std::vector<io::Column> columns = mcq_item_columns();
  std::string sums;
  for (const double sum : answer.log_likelihoods) sums.append(sums.empty() ? "[" : ",").append(format_real(sum));
  const auto right = [&](Index choice) { return Index{choice == item.gold ? 1 : 0}; };
  std::vector<io::Cell> cells = {run.task,
                                 item.subject,
                                 number,
                                 item.id,
                                 item.gold,
                                 sums + "]",
                                 answer.by_sum,
                                 answer.by_characters,
                                 answer.by_bytes,
                                 right(answer.by_sum),
                                 right(answer.by_characters),
                                 right(answer.by_bytes),
                                 Index{answer.is_tied ? 1 : 0},
                                 Index{answer.shares_token ? 1 : 0},
                                 answer.cut,
                                 answer.read,
                                 run.shots,
                                 run.bos,
                                 run.context};
  append_stamp(cells, run.stamp);
  cells.push_back(with_times ? io::Cell(answer.seconds) : io::Cell());
  return {columns, std::move(cells)};
}

std::vector<io::Column> mcq_columns() {
  return with_run({{"task", ColumnType::text},
                   {"subject", ColumnType::text},
                   {"n", ColumnType::integer},
                   {"successes", ColumnType::integer},
                   {"acc", ColumnType::real, 4},
                   {"acc_se", ColumnType::real, 4},
                   {"ci_low", ColumnType::real, 4},
                   {"ci_high", ColumnType::real, 4},
                   {"acc_norm", ColumnType::real, 4},
                   {"acc_norm_se", ColumnType::real, 4},
                   {"acc_bytes", ColumnType::real, 4},
                   {"acc_bytes_se", ColumnType::real, 4},
                   {"ties", ColumnType::integer},
                   {"shared_tokens", ColumnType::integer},
                   {"cut_items", ColumnType::integer},
                   {"read_tokens", ColumnType::integer}});
}

void write_mcq(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times) {
  for (const ItemGroup& run : group_items(items, run_columns(), "item")) {
    std::vector<ItemGroup> subjects;
    for (const ItemRow* row : run.rows) {
      const auto same = [&](const ItemGroup& group) {
        return group.rows.front()->text("subject") == row->text("subject");
      };
      auto place = std::find_if(subjects.begin(), subjects.end(), same);
      if (place == subjects.end()) place = subjects.insert(subjects.end(), ItemGroup{});
      place->rows.push_back(row);
    }
    Summary all;
    for (const ItemGroup& subject : subjects) {
      Summary one;
      one.add(subject);
      all.add(subject);
      const std::string& name = subject.rows.front()->text("subject");
      if (!name.empty()) write_summary(table, one, *subject.rows.front(), name, with_times);
    }
    write_summary(table, all, *run.rows.front(), "all", with_times);
  }
}

}  // namespace bam::eval
