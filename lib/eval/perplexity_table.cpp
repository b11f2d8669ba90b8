#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "eval/perplexity.h"

namespace bam::eval {
namespace {

std::vector<io::Cell> perplexity_row(const std::string& name, const PerplexityBin& bin, const PerplexityRun& run) {
  const double nll = bin.nll_nats.mean();
  std::vector<io::Cell> row = {name, bin.from, bin.to, bin.nll_nats.count(), bin.nll_nats.groups(), nll};
  const auto add = [&row](const auto& maybe) {
    if (maybe) {
      row.emplace_back(*maybe);
    } else {
      row.emplace_back();
    }
  };
  std::optional<double> bits_per_byte;
  if (bin.bytes.value_or(0) > 0) {
    bits_per_byte = bin.nll_nats.sum() / std::numbers::ln2 / static_cast<double>(*bin.bytes);
  }
  std::optional<Index> stride;
  if (run.options.rule.slides()) stride = run.options.rule.stride;
  add(bin.nll_nats.standard_error());
  row.emplace_back(std::exp(nll));
  add(bits_per_byte);
  add(bin.bytes);
  row.emplace_back(run.options.rule.context);
  add(stride);
  row.emplace_back(run.bos);
  append_stamp(row, run.stamp);
  if (run.seconds) row.emplace_back(*run.seconds);
  return row;
}

}  // namespace

std::vector<io::Column> perplexity_columns(bool with_times) {
  using io::ColumnType;
  std::vector<io::Column> columns = {
      {"bin", ColumnType::text},       {"from", ColumnType::integer},       {"to", ColumnType::integer},
      {"tokens", ColumnType::integer}, {"windows", ColumnType::integer},    {"nll", ColumnType::real, 6},
      {"nll_se", ColumnType::real, 6}, {"perplexity", ColumnType::real, 6}, {"bits_per_byte", ColumnType::real, 6},
      {"bytes", ColumnType::integer},  {"context", ColumnType::integer},    {"stride", ColumnType::integer},
      {"bos", ColumnType::text}};
  append_stamp_columns(columns);
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

void write_perplexity(io::TableWriter& table, const PerplexityResult& result, const PerplexityRun& run) {
  if (result.all.nll_nats.count() == 0) return;
  for (std::size_t i = 0; i < result.bins.size(); ++i) {
    table.row(perplexity_row(std::to_string(i + 1), result.bins[i], run));
  }
  table.row(perplexity_row("all", result.all, run));
}

std::vector<io::Column> perplexity_item_columns() {
  using io::ColumnType;
  std::vector<io::Column> columns = {{"window", ColumnType::integer}, {"bin", ColumnType::integer},
                                     {"from", ColumnType::integer},   {"to", ColumnType::integer},
                                     {"tokens", ColumnType::integer}, {"nll_sum", ColumnType::real},
                                     {"bytes", ColumnType::integer},  {"context", ColumnType::integer},
                                     {"stride", ColumnType::integer}, {"bos", ColumnType::text}};
  append_stamp_columns(columns);
  columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

std::vector<ItemRow> perplexity_item_rows(const PerplexityResult& result, const PerplexityRun& run) {
  static const std::vector<io::Column> columns = perplexity_item_columns();
  const WindowRule& rule = run.options.rule;
  std::vector<ItemRow> rows;
  for (const PerplexityItem& item : result.items) {
    const PerplexityBin& bin = result.bins.empty() ? result.all : result.bins[static_cast<std::size_t>(item.bin)];
    std::vector<io::Cell> cells = {item.window, item.bin + 1, bin.from, bin.to, item.tokens, item.nll_nats};
    cells.push_back(item.bytes ? io::Cell(*item.bytes) : io::Cell());
    cells.emplace_back(rule.context);
    cells.push_back(rule.slides() ? io::Cell(rule.stride) : io::Cell());
    cells.emplace_back(run.bos);
    append_stamp(cells, run.stamp);
    // The run's time is the last window's: rows add up to it.
    const bool is_last = rows.size() + 1 == result.items.size();
    cells.push_back(run.seconds ? io::Cell(is_last ? *run.seconds : 0.0) : io::Cell());
    rows.emplace_back(columns, std::move(cells));
  }
  return rows;
}

namespace {

void add_row(PerplexityBin& bin, const ItemRow& row) {
  bin.nll_nats.add_group(row.real("nll_sum"), row.integer("tokens"));
  if (!row.is_missing("bytes")) bin.bytes = bin.bytes.value_or(0) + row.integer("bytes");
}

// All rows of one window into one group of the total.
void add_window(PerplexityBin& all, const std::vector<const ItemRow*>& rows) {
  double sum = 0;
  Index count = 0;
  for (const ItemRow* row : rows) {
    sum += row->real("nll_sum");
    count += row->integer("tokens");
    if (!row->is_missing("bytes")) all.bytes = all.bytes.value_or(0) + row->integer("bytes");
  }
  all.nll_nats.add_group(sum, count);
}

PerplexityRun run_of(const ItemRow& row) {
  PerplexityRun run;
  run.options.rule.context = row.integer("context");
  if (!row.is_missing("stride")) run.options.rule.stride = row.integer("stride");
  run.bos = row.text("bos");
  run.stamp = stamp_of(row);
  return run;
}

}  // namespace

void merge_perplexity(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times) {
  std::vector<std::string> run_columns = {"context", "stride", "bos"};
  run_columns.insert(run_columns.end(), run_stamp_names().begin(), run_stamp_names().end());
  std::vector<std::string> bin_columns = {"bin", "from", "to"};
  bin_columns.insert(bin_columns.end(), run_columns.begin(), run_columns.end());
  const auto run_key = [&](const ItemRow& row) {
    std::string key;
    for (const std::string& column : run_columns) key += cell_text(row.cell(column)) + "\t";
    return key;
  };
  std::vector<ItemGroup> bins = group_items(items, bin_columns, "window");
  std::stable_sort(bins.begin(), bins.end(), [](const ItemGroup& a, const ItemGroup& b) {
    return a.rows.front()->integer("from") < b.rows.front()->integer("from");
  });
  std::set<std::string> done;
  for (const ItemRow& first : items) {
    const std::string key = run_key(first);
    if (!done.insert(key).second) continue;
    PerplexityRun run = run_of(first);
    PerplexityResult result;
    result.all.from = 1;
    result.all.to = run.options.rule.context;
    std::map<Index, std::vector<const ItemRow*>> windows;
    double seconds = 0;
    for (const ItemGroup& group : bins) {
      if (run_key(*group.rows.front()) != key) continue;
      PerplexityBin bin{.from = group.rows.front()->integer("from"),
                        .to = group.rows.front()->integer("to"),
                        .nll_nats = {},
                        .bytes = {}};
      for (const ItemRow* row : group.rows) {
        add_row(bin, *row);
        windows[row->integer("window")].push_back(row);
        if (with_times) seconds += row->real("seconds");
      }
      if (!run.options.rule.slides()) result.bins.push_back(bin);
    }
    for (const auto& [number, rows] : windows) add_window(result.all, rows);
    if (with_times) run.seconds = seconds;
    write_perplexity(table, result, run);
  }
}

}  // namespace bam::eval
