// boxes: eval prior io base
// Tables that are read back: items of every evaluation, merged, and priors.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "eval/mcq.h"
#include "eval/passkey_merge.h"
#include "eval/perplexity.h"
#include "eval/rolling.h"
#include "eval/ruler.h"
#include "memory_file.h"
#include "prior/table.h"

namespace {

using namespace bam;

struct Kind {
  std::vector<io::Column> items;
  std::vector<std::string> may_be_empty;
  std::vector<io::Column> columns;
  void (*merge)(io::TableWriter&, const std::vector<eval::ItemRow>&, bool);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {eval::passkey_item_columns(true), {}, eval::passkey_columns(true), eval::merge_passkey},
      {eval::perplexity_item_columns(), {"bytes", "stride"}, eval::perplexity_columns(true), eval::merge_perplexity},
      {eval::rolling_item_columns(), {}, eval::rolling_columns(), eval::write_rolling},
      {eval::ruler_item_columns(), {"length", "depth"}, eval::ruler_columns(), eval::write_ruler},
      {eval::mcq_item_columns(), {}, eval::mcq_columns(), eval::write_mcq}};
  return all;
}

void merge(const Kind& kind, const std::string& path) {
  const std::vector<eval::ItemRow> rows = eval::read_item_rows({path}, kind.items, kind.may_be_empty);
  if (rows.empty()) return;
  const bool with_times =
      std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.is_missing("seconds"); });
  std::vector<io::Column> columns = kind.columns;
  if (!with_times) columns.pop_back();
  io::MemorySink sink;
  io::TableWriter table(sink, io::TableFormat::jsonl, columns, true);
  kind.merge(table, rows, with_times);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  log::configure("fuzz", log::Level::quiet);
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t kind = data[0] % (kinds().size() + 1);
  try {
    if (kind < kinds().size()) {
      merge(kinds()[kind], bam::test::MemoryFile(bytes).path());
    } else {
      const auto source = io::source_from_memory("fuzz", bytes);
      (void)arrange_priors(read_prior_rows(*source), 2, 2, (data[0] & 64U) != 0, "fuzz");
    }
  } catch (const Error&) {
  }
  return 0;
}
