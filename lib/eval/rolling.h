// Rolling perplexity, as lm-evaluation-harness defines it: every token of every document is scored once, the first
// after BOS, in windows that do not overlap; sums over all documents are divided by their words or bytes, which do not
// depend on the tokenizer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/item_rows.h"
#include "eval/reading.h"
#include "eval/run_stamp.h"
#include "eval/windows.h"
#include "model/skip_counts.h"
#include "text/documents.h"

namespace bam::eval {

// Of BOS and `tokens` ids behind it. Each window reads `context` ids or fewer and goes on where the last one ended,
// with one id before those it scores; the last is filled up with earlier ids.
std::vector<TokenWindow> rolling_windows(Index tokens, Index context);

struct RollingDocument {
  Index number = 0;  // over all files, from 0
  Index tokens = 0;
  Index words = 0;  // pieces between blanks; a blank at an end makes an empty piece that counts
  Index bytes = 0;
  Index windows = 0;
  double nll_nats = 0;
  double seconds = 0;
};

struct RollingOptions {
  Index context = 0;
  Index chunk = kDefaultChunk;
  double memory_bytes = 0;
  Share share = {};  // of the documents
  text::InputOptions input = {};
};

// `done` gets each document of the share. Throws Error for token shards, which have no words, for records that are not
// valid ("FILE:LINE: ..."), and where there is no document.
SkipCounts evaluate_rolling(const LoadedModel& loaded, const std::vector<std::string>& paths,
                            const RollingOptions& options, const std::function<void(const RollingDocument&)>& done);

struct RollingRun {
  Index context = 0;
  RunStamp stamp;
};

std::vector<io::Column> rolling_item_columns();
ItemRow rolling_item_row(const RollingDocument& document, const RollingRun& run, bool with_times);

// One row for each run. Standard errors are by document, of the ratio of sums.
std::vector<io::Column> rolling_columns();
void write_rolling(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times);

}  // namespace bam::eval
