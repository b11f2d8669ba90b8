// Runs the passkey task on a model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/passkey_prompts.h"
#include "eval/run_stamp.h"
#include "io/table.h"

namespace bam::eval {

struct PasskeyOptions {
  Index chunk = kDefaultChunk;
  // The samples of a length are read in order of depth, and each goes on from what it shares with the one before: the
  // chunks up to the earlier needle are read once. Without, each is read from its beginning; results are the same bits.
  bool share_prefix = true;
  double memory_bytes = 0;
};

// One answered prompt.
struct PasskeyItem {
  Index length = 0;
  Index sample = 0;
  Index real_length = 0;
  double depth = 0;
  Index needle_token = 0;
  std::string key;
  bool found = false;     // every scored id has the largest logit, without a tie
  double nll_nats = 0;    // sum over the scored ids
  Index scored = 0;       // ids
  Index read_tokens = 0;  // of the prompt and of the key behind it, shared or not
  SkipCounts skipped;
  double seconds = 0;
};

// Refuses, before anything is read, a length that is too short for the task (UsageError) or does not fit in memory.
void check_lengths(const Model& model, const PasskeyPrompts& prompts, const std::vector<Index>& lengths,
                   const PasskeyOptions& options);

// Gets the number of samples done, and how many tokens of the one that is being read.
using PasskeyProgress = std::function<void(Index samples, Index tokens)>;

// The given samples of one length, in their order.
std::vector<PasskeyItem> run_passkey(const Model& model, const PasskeyPrompts& prompts, Index length,
                                     const std::vector<Index>& samples, const PasskeyOptions& options,
                                     const PasskeyProgress& progress = {});

// The same for every row of a run.
struct PasskeyRun {
  PasskeyTask task;
  RunStamp stamp;
  bool with_times = true;
};

std::vector<io::Column> passkey_columns(bool with_times);
// Rows of one length: one for each place of the needle, then one with the depth "all".
void write_passkey(io::TableWriter& table, const std::vector<PasskeyItem>& items, const PasskeyRun& run);

// A row for each answered prompt.
std::vector<io::Column> passkey_item_columns(bool with_times);
void write_passkey_items(io::TableWriter& table, const std::vector<PasskeyItem>& items, const PasskeyRun& run);

// The prompt as a JSON line.
std::string dump_prompt(const PasskeyPrompt& prompt, const text::Tokenizer& tokenizer);

}  // namespace bam::eval
