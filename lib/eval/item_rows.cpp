#include "eval/item_rows.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"
#include "io/json.h"
#include "io/stream.h"

namespace bam::eval {
namespace {

constexpr Index kMostTableBytes = Index{4} << 30;
constexpr std::string_view kSeconds = "seconds";

// Far above any count of an item, and low enough that the rows of a table cannot add up beyond an Index.
constexpr Index kLargestCount = Index{1} << 36;

std::string unescape(std::string_view cell) {
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\' || i + 1 == cell.size()) {
      text += cell[i];
      continue;
    }
    const char next = cell[++i];
    text += next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next;
  }
  return text;
}

std::vector<std::string_view> split_tabs(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

class TableReader {
 public:
  TableReader(std::string name, const std::vector<io::Column>& columns, const std::vector<std::string>& may_be_empty)
      : name_(std::move(name)), columns_(columns), may_be_empty_(may_be_empty) {}

  void read(std::string_view bytes, std::vector<ItemRow>& rows) {
    while (!bytes.empty()) {
      ++line_;
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) fail("cut short: its last line has no end");
      const std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (line.starts_with('{')) {
        rows.emplace_back(columns_, json_cells(line));
      } else if (const std::vector<std::string_view> cells = split_tabs(line); !is_header(cells)) {
        rows.emplace_back(columns_, tsv_cells(cells));
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ":" + std::to_string(line_) + ": " + what + ", expected a table that --per-item made");
  }

  bool lacks_seconds(std::size_t cells) const {
    return cells + 1 == columns_.size() && columns_.back().name == kSeconds;
  }

  bool is_header(const std::vector<std::string_view>& cells) const {
    return (cells.size() == columns_.size() || lacks_seconds(cells.size())) &&
           std::equal(cells.begin(), cells.end(), columns_.begin(),
                      [](std::string_view cell, const io::Column& column) { return cell == column.name; });
  }

  std::vector<io::Cell> tsv_cells(const std::vector<std::string_view>& texts) const {
    if (texts.size() != columns_.size() && !lacks_seconds(texts.size())) {
      fail(std::to_string(texts.size()) + " columns and not " + std::to_string(columns_.size()));
    }
    std::vector<io::Cell> cells;
    for (std::size_t i = 0; i < texts.size(); ++i) cells.push_back(tsv_cell(texts[i], columns_[i]));
    cells.resize(columns_.size());
    return cells;
  }

  io::Cell tsv_cell(std::string_view text, const io::Column& column) const {
    if (column.type == io::ColumnType::text) return unescape(text);
    if (text.empty()) return missing(column);
    Index integer = 0;
    double real = 0;
    if (column.type == io::ColumnType::integer ? parse_whole(text, integer) : parse_whole(text, real)) {
      return column.type == io::ColumnType::integer ? checked(integer, column) : io::Cell(real);
    }
    fail(std::string("'").append(text.substr(0, 40)).append("' as ").append(column.name));
  }

  io::Cell checked(Index integer, const io::Column& column) const {
    if (integer >= -kLargestCount && integer <= kLargestCount) return integer;
    fail(std::to_string(integer) + " as " + column.name);
  }

  io::Cell missing(const io::Column& column) const {
    const bool is_allowed = column.name == kSeconds ||
                            std::find(may_be_empty_.begin(), may_be_empty_.end(), column.name) != may_be_empty_.end();
    if (!is_allowed) fail("no " + column.name);
    return {};
  }

  std::vector<io::Cell> json_cells(std::string_view line) {
    simdjson::dom::object object;
    if (parser_.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) fail("not a JSON object");
    std::vector<io::Cell> cells;
    for (const io::Column& column : columns_) {
      simdjson::dom::element element;
      const bool is_there = object[column.name].get(element) == simdjson::SUCCESS && !element.is_null();
      cells.push_back(is_there ? json_cell(element, column) : missing(column));
    }
    return cells;
  }

  io::Cell json_cell(const simdjson::dom::element& element, const io::Column& column) const {
    std::int64_t integer = 0;
    double real = 0;
    std::string_view text;
    switch (column.type) {
      case io::ColumnType::integer:
        if (element.get(integer) == simdjson::SUCCESS) return checked(integer, column);
        break;
      case io::ColumnType::real:
        if (element.get(real) == simdjson::SUCCESS) return real;
        break;
      case io::ColumnType::text:
        if (element.get(text) == simdjson::SUCCESS) return std::string(text);
        break;
    }
    fail("a value of another kind as " + column.name);
  }

  std::string name_;
  const std::vector<io::Column>& columns_;
  const std::vector<std::string>& may_be_empty_;
  simdjson::dom::parser parser_;
  Index line_ = 0;
};

}  // namespace

Share parse_share(std::string_view text) {
  const std::size_t slash = text.find('/');
  Share share;
  const bool is_valid = slash != std::string_view::npos && parse_whole(text.substr(0, slash), share.number) &&
                        parse_whole(text.substr(slash + 1), share.of) && share.number >= 1 && share.number <= share.of;
  if (!is_valid) throw UsageError("'" + std::string(text) + "' is not a share, expected I/N with I from 1 to N");
  return share;
}

const io::Cell& ItemRow::cell(std::string_view column) const {
  for (std::size_t i = 0; i < columns_->size(); ++i) {
    if ((*columns_)[i].name == column) return cells_[i];
  }
  throw std::logic_error("items: no column " + std::string(column));
}

Index ItemRow::integer(std::string_view column) const {
  return std::get<Index>(cell(column));
}

double ItemRow::real(std::string_view column) const {
  const io::Cell& number = cell(column);
  if (const auto* integer = std::get_if<Index>(&number)) return static_cast<double>(*integer);
  return std::get<double>(number);
}

const std::string& ItemRow::text(std::string_view column) const {
  return std::get<std::string>(cell(column));
}

bool ItemRow::is_missing(std::string_view column) const {
  return std::holds_alternative<std::monostate>(cell(column));
}

std::string cell_text(const io::Cell& cell) {
  if (const auto* integer = std::get_if<Index>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return format_real(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return {};
}

std::vector<ItemRow> read_item_rows(const std::vector<std::string>& paths, const std::vector<io::Column>& columns,
                                    const std::vector<std::string>& may_be_empty) {
  std::vector<ItemRow> rows;
  for (const std::string& path : paths) {
    const std::unique_ptr<io::ByteSource> source = io::open_source(path);
    const std::string bytes = io::read_all(*source, kMostTableBytes);
    TableReader(source->name(), columns, may_be_empty).read(bytes, rows);
  }
  return rows;
}

std::vector<ItemRow> parse_item_rows(const std::string& name, std::string_view bytes,
                                     const std::vector<io::Column>& columns,
                                     const std::vector<std::string>& may_be_empty) {
  std::vector<ItemRow> rows;
  TableReader(name, columns, may_be_empty).read(bytes, rows);
  return rows;
}

void write_items(io::TableWriter& table, const std::vector<ItemRow>& rows, bool with_times) {
  for (const ItemRow& row : rows) {
    std::vector<io::Cell> cells = row.cells();
    if (!with_times) cells.pop_back();
    table.row(cells);
  }
}

std::vector<ItemGroup> group_items(const std::vector<ItemRow>& rows, const std::vector<std::string>& keys,
                                   const std::string& item) {
  std::vector<ItemGroup> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  const auto text = [](const ItemRow& row, const std::string& column) {
    return row.is_missing(column) ? std::string() : cell_text(row.cell(column));
  };
  for (const ItemRow& row : rows) {
    std::vector<std::string> key;
    for (const std::string& column : keys) key.push_back(text(row, column));
    const auto [place, is_new] = known.emplace(std::move(key), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].rows.push_back(&row);
  }
  for (ItemGroup& group : groups) {
    std::stable_sort(group.rows.begin(), group.rows.end(),
                     [&](const ItemRow* a, const ItemRow* b) { return a->integer(item) < b->integer(item); });
    std::string name;
    for (const std::string& column : {keys[0], keys[1]}) {
      const std::string value = text(*group.rows.front(), column);
      if (!value.empty()) name.append(name.empty() ? "" : ", ").append(column).append(" ").append(value);
    }
    Index missing = 0;
    Index first_missing = 0;
    Index due = 0;
    for (const ItemRow* row : group.rows) {
      const Index number = row->integer(item);
      if (number < due) {
        throw Error(name + ": " + item + " " + std::to_string(number) +
                    " is there twice, expected tables of different shares, each once");
      }
      if (number > due && missing == 0) first_missing = due;
      missing += number - due;
      due = number + 1;
    }
    if (missing > 0) {
      log::warning(name + ": " + std::to_string(missing) + " of the " + std::to_string(due) +
                   " are missing, the first is " + item + " " + std::to_string(first_missing));
    }
  }
  return groups;
}

}  // namespace bam::eval
