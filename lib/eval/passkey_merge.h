// The table of passkey prompts that were answered apart.
#pragma once

#include <vector>

#include "eval/item_rows.h"
#include "eval/passkey.h"

namespace bam::eval {

// Rows of write_passkey_items, as read_item_rows gives them for passkey_item_columns(true). The shares of skipped pairs
// are weighted by the pairs of what was read, which gives the table's own to their rounding.
void merge_passkey(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times);

}  // namespace bam::eval
