// What evaluation tools do by item: shares for job arrays, tables of items, and their summary.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cli/run_tool.h"
#include "eval/item_rows.h"

namespace bam {

inline cli::ValueType<eval::Share> share_type() {
  return {.metavar = "I/N", .parse = eval::parse_share, .format = [](const eval::Share& share) {
            return std::to_string(share.number) + "/" + std::to_string(share.of);
          }};
}

struct ItemOptions {
  eval::Share share;
  bool per_item = false;
  bool merge = false;

  // `items` is what the tool has many of: "prompts".
  cli::OptionGroup& declare(cli::OptionTable& options, const std::string& items, bool with_share = true) {
    cli::OptionGroup& group = options.group("Items");
    if (with_share) {
      group.add("task", share, share_type(), "Do only the I-th of N shares of the " + items + ", for job arrays.");
    }
    return group.flag("per-item", per_item, "Write a row for each of the " + items + " in place of the table.")
        .flag("merge", merge, "Make the table from tables that --per-item wrote: MODEL and FILE are such tables.");
  }

  // With --merge: the files, of which the first stands in the place of the model, and their rows.
  std::vector<eval::ItemRow> merged_rows(const std::string& first, const std::vector<std::string>& others,
                                         const std::vector<io::Column>& columns,
                                         const std::vector<std::string>& may_be_empty = {}) const {
    if (per_item) throw UsageError("--merge, --per-item: expected one of them");
    if (!share.is_whole()) throw UsageError("--merge, --task: expected one of them");
    std::vector<std::string> files = {first};
    files.insert(files.end(), others.begin(), others.end());
    if (std::count(files.begin(), files.end(), "-") > 1) {
      throw UsageError("-: standard input can be read once");
    }
    std::vector<eval::ItemRow> rows = eval::read_item_rows(files, columns, may_be_empty);
    if (rows.empty()) throw Error(io::input_name(first) + ": no row, expected tables that --per-item wrote");
    return rows;
  }
};

// Whether any row knows its seconds: then the table has the column.
inline bool have_seconds(const std::vector<eval::ItemRow>& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const eval::ItemRow& row) { return row.is_missing("seconds"); });
}

}  // namespace bam
