#include "io/table_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace bam::io {

namespace {
constexpr Index kMostBytes = Index{1} << 30;
}

TableReader::TableReader(ByteSource& source, std::vector<std::string> required, std::vector<std::string> optional)
    : name_(source.name()), bytes_(read_all(source, kMostBytes)), names_(std::move(required)) {
  if (!take_line()) throw Error(name_ + ": empty, expected a tab-separated table");
  const std::size_t needed = names_.size();
  names_.insert(names_.end(), optional.begin(), optional.end());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto found = std::find(cells_.begin(), cells_.end(), names_[i]);
    if (found == cells_.end() && i < needed) {
      std::string all;
      for (std::size_t k = 0; k < needed; ++k) all += (k > 0 ? ", " : "") + names_[k];
      fail("no column '" + names_[i] + "', expected a tab-separated table with " + all);
    }
    at_.push_back(found == cells_.end() ? kNone : static_cast<std::size_t>(found - cells_.begin()));
  }
  width_ = cells_.size();
}

bool TableReader::take_line() {
  if (position_ >= bytes_.size()) return false;
  const std::string_view rest = std::string_view(bytes_).substr(position_);
  std::string_view line = rest.substr(0, rest.find('\n'));
  position_ += line.size() + 1;
  ++line_;
  cells_.clear();
  for (;;) {
    const auto tab = line.find('\t');
    cells_.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return true;
    line.remove_prefix(tab + 1);
  }
}

bool TableReader::next() {
  if (!take_line()) return false;
  if (cells_.size() != width_) {
    fail(std::to_string(cells_.size()) + " cells, expected " + std::to_string(width_));
  }
  return true;
}

std::string_view TableReader::text(std::size_t column) const {
  return has(column) ? cells_[at_[column]] : std::string_view();
}

double TableReader::real(std::size_t column) const {
  const std::string_view cell = text(column);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) {
    fail("'" + std::string(cell) + "' is not a number, expected one in column " + names_[column]);
  }
  return value;
}

Index TableReader::index(std::size_t column, Index low, Index high) const {
  const double value = real(column);
  if (!(value >= static_cast<double>(low) && value <= static_cast<double>(high)) || value != std::floor(value)) {
    fail(names_[column] + " is " + std::string(text(column)) + ", expected a whole number from " + std::to_string(low) +
         " to " + std::to_string(high));
  }
  return static_cast<Index>(value);
}

void TableReader::fail(const std::string& what) const {
  throw Error(name_ + ":" + std::to_string(line_) + ": " + what);
}

}  // namespace bam::io
