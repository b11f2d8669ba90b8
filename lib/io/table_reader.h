// Tables read back: tab-separated, with a header row, as TableWriter makes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/stream.h"

namespace bam::io {

// Columns are asked for by name and may stand in any order, among others. Errors "NAME:LINE: ...".
class TableReader {
 public:
  // Reads all of `source`, at most 1 GiB. Throws Error: empty, a missing column.
  TableReader(ByteSource& source, std::vector<std::string> required, std::vector<std::string> optional = {});

  // To the next row; false at the end. Throws Error for a row of another width.
  bool next();

  // Columns by their place: the required ones, then the optional ones.
  bool has(std::size_t column) const { return at_[column] != kNone; }
  std::string_view text(std::size_t column) const;  // empty where an optional column is missing
  double real(std::size_t column) const;            // a number, nan and inf included; Error for anything else
  Index index(std::size_t column, Index low, Index high) const;  // a whole number; Error outside the range

  Index line() const { return line_; }  // of the row in hand, from 1
  const std::string& name() const { return name_; }
  [[noreturn]] void fail(const std::string& what) const;  // Error "NAME:LINE: WHAT"

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  bool take_line();  // the next line into cells_

  std::string name_, bytes_;
  std::size_t position_ = 0;
  Index line_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string> names_;
  std::vector<std::size_t> at_;
  std::vector<std::string_view> cells_;
};

}  // namespace bam::io
