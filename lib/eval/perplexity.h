// Perplexity of a sequence of tokens: by position in windows, or with a sliding window.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "eval/item_rows.h"
#include "eval/run_stamp.h"
#include "eval/statistics.h"
#include "eval/token_source.h"
#include "eval/windows.h"
#include "io/table.h"

namespace bam::eval {

struct PerplexityOptions {
  WindowRule rule;
  Index bin = 0;  // by position: ids in a bin
  Index chunk = kDefaultChunk;
  Share share = {};  // of the batches of windows that are read together: a window's neighbours change its last digits
  bool keeps_items = false;
};

// What one window adds to one bin; sliding windows have one bin.
struct PerplexityItem {
  Index window = 0;
  Index bin = 0;  // from 0
  Index tokens = 0;
  double nll_nats = 0;
  std::optional<Index> bytes;

  void add(const PerplexityItem& more) {
    tokens += more.tokens;
    nll_nats += more.nll_nats;
    if (more.bytes) bytes = bytes.value_or(0) + *more.bytes;
  }
};

// Scores of the ids that had from - 1 < p <= to ids of their window before them.
struct PerplexityBin {
  Index from = 0;
  Index to = 0;
  GroupedMean nll_nats;        // grouped by window
  std::optional<Index> bytes;  // where the tokenizer is lossless
};

struct PerplexityResult {
  std::vector<PerplexityBin> bins;  // by position; none when sliding
  PerplexityBin all;
  Index left_out = 0;                 // ids behind the last full window
  SkipCounts skipped;                 // of attention
  std::vector<PerplexityItem> items;  // where they are kept, window by window
};

// Nothing is scored where the share has no window. Throws Error for data that holds none, and for windows that do not
// fit in memory_bytes (before anything is read). `progress` gets the number of scored ids.
PerplexityResult evaluate_perplexity(const LoadedModel& loaded, TokenSource& source, const PerplexityOptions& options,
                                     double memory_bytes, const std::function<void(Index)>& progress = {});

// The same for every row of a run.
struct PerplexityRun {
  PerplexityOptions options;
  std::string bos;
  RunStamp stamp;
  std::optional<double> seconds;  // none with --no-times
};

// A row for each bin, then one for all; none where nothing was scored.
std::vector<io::Column> perplexity_columns(bool with_times);
void write_perplexity(io::TableWriter& table, const PerplexityResult& result, const PerplexityRun& run);

// The items as a table, and the table of tables of items.
std::vector<io::Column> perplexity_item_columns();
std::vector<ItemRow> perplexity_item_rows(const PerplexityResult& result, const PerplexityRun& run);
void merge_perplexity(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times);

}  // namespace bam::eval
