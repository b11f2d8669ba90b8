#include "io/table.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "io/json.h"

namespace bam::io {
namespace {

std::string tsv_escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A finite number with a fixed number of digits can have 309 of them before the point.
std::string finite_text(double value, int digits) {
  if (digits < 0) return json_number(value);
  std::string text(static_cast<std::size_t>(digits) + 320, '\0');
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string real_text(double value, int digits, TableFormat format) {
  if (std::isfinite(value)) return finite_text(value, digits);
  if (format == TableFormat::jsonl) return "null";
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

std::string cell_text(const Cell& cell, const Column& column, TableFormat format) {
  if (std::holds_alternative<std::monostate>(cell)) return format == TableFormat::jsonl ? "null" : "";
  if (const auto* integer = std::get_if<Index>(&cell); integer != nullptr && column.type == ColumnType::integer) {
    return std::to_string(*integer);
  }
  if (const auto* text = std::get_if<std::string>(&cell); text != nullptr && column.type == ColumnType::text) {
    return format == TableFormat::jsonl ? json_quote(*text) : tsv_escape(*text);
  }
  if (column.type == ColumnType::real) {
    if (const auto* real = std::get_if<double>(&cell)) return real_text(*real, column.digits, format);
    if (const auto* integer = std::get_if<Index>(&cell)) {
      return real_text(static_cast<double>(*integer), column.digits, format);
    }
  }
  throw std::logic_error("table: a cell of another type than its column '" + column.name + "'");
}

}  // namespace

TableWriter::TableWriter(ByteSink& sink, TableFormat format, std::vector<Column> columns, bool header)
    : sink_(sink), format_(format), columns_(std::move(columns)) {
  if (format_ != TableFormat::tsv || !header) return;
  std::string line;
  for (const Column& column : columns_) {
    if (!line.empty()) line += '\t';
    line += tsv_escape(column.name);
  }
  line += '\n';
  sink_.write(line);
}

void TableWriter::row(const std::vector<Cell>& cells) {
  if (cells.size() != columns_.size()) throw std::logic_error("table: a row with another number of cells than columns");
  std::string line = format_ == TableFormat::jsonl ? "{" : "";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += format_ == TableFormat::jsonl ? "," : "\t";
    if (format_ == TableFormat::jsonl) line.append(json_quote(columns_[i].name)).append(":");
    line += cell_text(cells[i], columns_[i], format_);
  }
  line += format_ == TableFormat::jsonl ? "}\n" : "\n";
  sink_.write(line);
}

}  // namespace bam::io
