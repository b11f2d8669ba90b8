// A table of items that grows as they are answered, so that an evaluation that was stopped can go on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/item_rows.h"

namespace bam::eval {

class ItemFile {
 public:
  // Opens or makes a tab-separated table with these columns, which outlive it. A last row without its end is cut off.
  // Throws Error: another table, no permission, in use by another process.
  ItemFile(const std::string& path, const std::vector<io::Column>& columns,
           const std::vector<std::string>& may_be_empty);
  ~ItemFile();
  ItemFile(const ItemFile&) = delete;
  ItemFile& operator=(const ItemFile&) = delete;

  // Those that were there, then those that were added.
  const std::vector<ItemRow>& rows() const { return rows_; }

  // Writes the row at once.
  void add(ItemRow row);

 private:
  class Sink;
  const std::vector<io::Column>& columns_;
  std::unique_ptr<Sink> sink_;
  std::unique_ptr<io::TableWriter> table_;
  std::vector<ItemRow> rows_;
};

}  // namespace bam::eval
