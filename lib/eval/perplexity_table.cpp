#include <cmath>
#include <numbers>

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
  row.emplace_back(run.dtype);
  row.emplace_back(run.eps);
  row.emplace_back(run.device);
  row.emplace_back(run.model);
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
      {"bos", ColumnType::text},       {"dtype", ColumnType::text},         {"eps", ColumnType::real},
      {"device", ColumnType::text},    {"model", ColumnType::text}};
  if (with_times) columns.push_back({"seconds", ColumnType::real, 3});
  return columns;
}

void write_perplexity(io::TableWriter& table, const PerplexityResult& result, const PerplexityRun& run) {
  for (std::size_t i = 0; i < result.bins.size(); ++i) {
    table.row(perplexity_row(std::to_string(i + 1), result.bins[i], run));
  }
  table.row(perplexity_row("all", result.all, run));
}

}  // namespace bam::eval
