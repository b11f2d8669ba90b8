#include "eval/passkey_merge.h"

#include "base/error.h"

namespace bam::eval {
namespace {

NeedleDepths depths_of(const std::string& text) {
  for (const auto& [name, depths] : needle_depth_names()) {
    if (name == text) return depths;
  }
  throw Error("'" + text + "' as depths, expected a table that --per-item made");
}

PasskeyRun run_of(const ItemRow& row, bool with_times) {
  PasskeyTask task;
  task.depths = depths_of(row.text("depths"));
  task.digits = row.integer("digits");
  task.prefix_digits = row.integer("prefix_digits");
  task.bos = row.text("bos") == "yes" ? BosUse::yes : BosUse::no;
  return {.task = task, .stamp = stamp_of(row), .with_times = with_times};
}

PasskeyItem item_of(const ItemRow& row, bool with_times) {
  PasskeyItem item;
  item.length = row.integer("length");
  item.sample = row.integer("sample");
  item.real_length = row.integer("real_length");
  item.depth = row.real("depth");
  item.needle_token = row.integer("needle_token");
  item.key = row.text("key");
  item.found = row.integer("found") == 1;
  item.nll_nats = row.real("nll_sum");
  item.scored = row.integer("scored");
  item.read_tokens = row.integer("read_tokens");
  item.skipped = {.visible = {1}, .skipped = {{row.real("skipped")}}};
  if (with_times) item.seconds = row.real("seconds");
  return item;
}

}  // namespace

void merge_passkey(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times) {
  std::vector<std::string> keys = {"length", "depths", "digits", "prefix_digits", "bos"};
  keys.insert(keys.end(), run_stamp_names().begin(), run_stamp_names().end());
  for (const ItemGroup& group : group_items(items, keys, "sample")) {
    std::vector<PasskeyItem> length;
    for (const ItemRow* row : group.rows) length.push_back(item_of(*row, with_times));
    write_passkey(table, length, run_of(*group.rows.front(), with_times));
  }
}

}  // namespace bam::eval
