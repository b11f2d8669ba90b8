// Perplexity of a sequence of tokens: by position in windows, or with a sliding window.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "eval/statistics.h"
#include "eval/token_source.h"
#include "eval/windows.h"
#include "io/table.h"

namespace bam::eval {

struct PerplexityOptions {
  WindowRule rule;
  Index bin = 0;  // by position: ids in a bin
  Index chunk = kDefaultChunk;
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
  Index left_out = 0;  // ids behind the last full window
  SkipCounts skipped;  // of attention
};

// Throws Error for data that holds no window, and for windows that do not fit in memory_bytes (before anything is
// read). `progress` gets the number of scored ids.
PerplexityResult evaluate_perplexity(const LoadedModel& loaded, TokenSource& source, const PerplexityOptions& options,
                                     double memory_bytes, const std::function<void(Index)>& progress = {});

// The same for every row of a run.
struct PerplexityRun {
  PerplexityOptions options;
  std::string bos, dtype;
  double eps;                     // of certified skipping
  std::string device, model;      // model: its digest
  std::optional<double> seconds;  // none with --no-times
};

// A row for each bin, then one for all.
std::vector<io::Column> perplexity_columns(bool with_times);
void write_perplexity(io::TableWriter& table, const PerplexityResult& result, const PerplexityRun& run);

}  // namespace bam::eval
