#include <algorithm>
#include <iterator>
#include <map>

#include "eval/passkey.h"
#include "eval/statistics.h"

namespace bam::eval {
namespace {

void append_run_columns(std::vector<io::Column>& columns, bool with_times) {
  using io::ColumnType;
  const std::vector<io::Column> more = {{"depths", ColumnType::text},
                                        {"digits", ColumnType::integer},
                                        {"prefix_digits", ColumnType::integer},
                                        {"bos", ColumnType::text}};
  columns.insert(columns.end(), more.begin(), more.end());
  append_stamp_columns(columns);
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
}

void append_run(std::vector<io::Cell>& row, const PasskeyRun& run, double seconds) {
  row.emplace_back(std::string(name_in(needle_depth_names(), run.task.depths)));
  row.emplace_back(run.task.digits);
  row.emplace_back(run.task.prefix_digits);
  row.emplace_back(uses_bos(run.task.bos) ? "yes" : "no");
  append_stamp(row, run.stamp);
  if (run.with_times) row.emplace_back(seconds);
}

struct Summary {
  Index n = 0;
  Index successes = 0;
  Index real_length = 0;
  Index read_tokens = 0;
  double nll_nats = 0;
  Index scored = 0;
  double skipped = 0;  // sum of shares
  double seconds = 0;

  void add(const PasskeyItem& item) {
    ++n;
    successes += item.found ? 1 : 0;
    real_length = std::max(real_length, item.real_length);
    read_tokens += item.read_tokens;
    nll_nats += item.nll_nats;
    scored += item.scored;
    skipped += item.skipped.share();
    seconds += item.seconds;
  }
};

std::vector<io::Cell> summary_row(Index length, const io::Cell& depth, const io::Cell& needle_token,
                                  const Summary& summary, const PasskeyRun& run) {
  const Interval interval = wilson_interval(summary.successes, summary.n);
  std::vector<io::Cell> row = {length,
                               summary.real_length,
                               depth,
                               needle_token,
                               summary.n,
                               summary.successes,
                               static_cast<double>(summary.successes) / static_cast<double>(summary.n),
                               interval.low,
                               interval.high,
                               summary.nll_nats / static_cast<double>(summary.scored),
                               summary.read_tokens,
                               summary.skipped / static_cast<double>(summary.n)};
  append_run(row, run, summary.seconds);
  return row;
}

}  // namespace

std::vector<io::Column> passkey_columns(bool with_times) {
  using io::ColumnType;
  std::vector<io::Column> columns = {
      {"length", ColumnType::integer},       {"real_length", ColumnType::integer}, {"depth", ColumnType::text},
      {"needle_token", ColumnType::integer}, {"n", ColumnType::integer},           {"successes", ColumnType::integer},
      {"accuracy", ColumnType::real, 4},     {"ci_low", ColumnType::real, 4},      {"ci_high", ColumnType::real, 4},
      {"nll", ColumnType::real, 6},          {"read_tokens", ColumnType::integer}, {"skipped", ColumnType::real, 4}};
  append_run_columns(columns, with_times);
  return columns;
}

void write_passkey(io::TableWriter& table, const std::vector<PasskeyItem>& items, const PasskeyRun& run) {
  if (items.empty()) return;
  std::map<Index, std::pair<double, Summary>> places;
  Summary all;
  for (const PasskeyItem& item : items) {
    auto& [depth, summary] = places[item.needle_token];
    depth = item.depth;
    summary.add(item);
    all.add(item);
  }
  const Index length = items.front().length;
  for (const auto& [needle_token, place] : places) {
    char depth[32];
    std::snprintf(depth, sizeof depth, "%.4f", place.first);
    table.row(summary_row(length, std::string(depth), needle_token, place.second, run));
  }
  table.row(summary_row(length, "all", {}, all, run));
}

std::vector<io::Column> passkey_item_columns(bool with_times) {
  using io::ColumnType;
  std::vector<io::Column> columns = {
      {"length", ColumnType::integer},      {"sample", ColumnType::integer},       {"real_length", ColumnType::integer},
      {"depth", ColumnType::real},          {"needle_token", ColumnType::integer}, {"key", ColumnType::text},
      {"found", ColumnType::integer},       {"nll_sum", ColumnType::real},         {"scored", ColumnType::integer},
      {"read_tokens", ColumnType::integer}, {"skipped", ColumnType::real}};
  append_run_columns(columns, with_times);
  return columns;
}

void write_passkey_items(io::TableWriter& table, const std::vector<PasskeyItem>& items, const PasskeyRun& run) {
  for (const PasskeyItem& item : items) {
    std::vector<io::Cell> row = {item.length,       item.sample,      item.real_length,    item.depth,
                                 item.needle_token, item.key,         Index{item.found},   item.nll_nats,
                                 item.scored,       item.read_tokens, item.skipped.share()};
    append_run(row, run, item.seconds);
    table.row(row);
  }
}

}  // namespace bam::eval
