// Evaluations by item: shares of the items for job arrays, and tables of items that are read back to be summarised.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/table.h"

namespace bam::eval {

// The number-th of `of` shares, from 1; together the shares are all items, each once.
struct Share {
  Index number = 1;
  Index of = 1;

  bool has(Index item) const { return item % of == number - 1; }
  // How many it has of the first so many items.
  Index count(Index items) const { return (items + of - number) / of; }
  bool is_whole() const { return of == 1; }
};

// "2/8". Throws UsageError.
Share parse_share(std::string_view text);

// A row of a table of items, and what its cells mean.
class ItemRow {
 public:
  ItemRow(const std::vector<io::Column>& columns, std::vector<io::Cell> cells)
      : columns_(&columns), cells_(std::move(cells)) {}

  const std::vector<io::Cell>& cells() const { return cells_; }
  // Throw std::logic_error for a column that is not there, or of another type.
  Index integer(std::string_view column) const;
  double real(std::string_view column) const;
  const std::string& text(std::string_view column) const;
  bool is_missing(std::string_view column) const;
  const io::Cell& cell(std::string_view column) const;

 private:
  const std::vector<io::Column>* columns_;
  std::vector<io::Cell> cells_;
};

// Tables as TableWriter writes them with these columns (which outlive the rows), tab-separated or JSON lines, one
// behind the other; header rows may be there or not. The last column may be missing where it is "seconds" (--no-times);
// only there are empty cells allowed, and in columns named in `may_be_empty`. "-" is standard input. Throws Error
// "FILE:LINE: ..." for anything else.
std::vector<ItemRow> read_item_rows(const std::vector<std::string>& paths, const std::vector<io::Column>& columns,
                                    const std::vector<std::string>& may_be_empty = {});

// The same of bytes that were read already; `name` is the file's, for messages.
std::vector<ItemRow> parse_item_rows(const std::string& name, std::string_view bytes,
                                     const std::vector<io::Column>& columns,
                                     const std::vector<std::string>& may_be_empty = {});

// Rows that are alike in some columns, in the order in which each group first appears.
struct ItemGroup {
  std::vector<const ItemRow*> rows;  // in order of the item's number
};
// `keys` tells groups apart, `item` the rows of a group. Throws Error "NAME: ..." when an item of a group is there
// twice, and warns when numbers between the lowest, 0, and the highest are missing.
std::vector<ItemGroup> group_items(const std::vector<ItemRow>& rows, const std::vector<std::string>& keys,
                                   const std::string& item);

// The rows as they are, but for the last column, the seconds, where times are left out.
void write_items(io::TableWriter& table, const std::vector<ItemRow>& rows, bool with_times);

// "42", "0.5", "text", as it stands in a table; for comparing.
std::string cell_text(const io::Cell& cell);

}  // namespace bam::eval
