// Asks a model RULER's questions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/item_rows.h"
#include "eval/reading.h"
#include "eval/ruler_samples.h"
#include "eval/run_stamp.h"

namespace bam::eval {

// One sample of RULER's, made here or read from a file.
struct RulerPrompt {
  Index sample = 0;
  std::string text;  // input and answer prefix
  std::vector<std::string> outputs;
  std::optional<double> depth;  // needles: tokens before the first answer, by those of the prompt
};

struct RulerOptions {
  BosUse bos = BosUse::automatic;
  Index chunk = kDefaultChunk;
  bool share_prefix = true;  // chunks that a prompt has in common with the one before are read once
  double memory_bytes = 0;
};

struct RulerItem {
  Index sample = 0;
  Index real_length = 0;  // tokens of the prompt, BOS included
  std::optional<double> depth;
  double score = 0;   // 0 to 1
  Index written = 0;  // tokens of the prediction
  Index read = 0;     // tokens of the prompt, shared or not
  std::string prediction;
  std::vector<std::string> outputs;
  SkipCounts skipped = {};
  double seconds = 0;
};

RulerPrompt prompt_of(const RulerSample& sample, Index number, const RulerTask& task);

// Throws Error "SUBJECT: ..." where one of the prompts has no token, or does not fit into memory.
void check_prompts(const LoadedModel& loaded, const RulerTask& task, const std::vector<RulerPrompt>& prompts,
                   const RulerOptions& options, const std::string& subject);

// Writes the most likely token up to task.answer_tokens times, to EOS or BOS, or until all there is to find is found:
// what comes behind cannot change the score. `done` gets each item as it is answered, in the order of reading.
// Throws as check_prompts does.
void ask_ruler(const LoadedModel& loaded, const RulerTask& task, const std::vector<RulerPrompt>& prompts,
               const RulerOptions& options, const std::string& subject,
               const std::function<void(const RulerItem&)>& done);

// Samples in a JSON-lines file of RULER's: input, outputs; answer_prefix, length and token_position_answer where they
// are there. Throws Error "FILE:LINE: ...".
std::vector<RulerPrompt> read_ruler_data(const std::string& path, const RulerTask& task);

// What all rows of a run have in common.
struct RulerRun {
  std::string source;  // "generated", or the name of the file
  std::string haystack, words, essay;
  std::string bos;
  RunStamp stamp;
};

// The table of items, and its summary: a row for each task, length and run.
std::vector<io::Column> ruler_item_columns();
ItemRow ruler_item_row(const std::string& task, std::optional<Index> length, const RulerItem& item,
                       const RulerTask& made_by, const RulerRun& run, bool with_times);
// The columns that tell groups of items apart; with "sample" they name an item.
const std::vector<std::string>& ruler_group_columns();

std::vector<io::Column> ruler_columns();
// The table's columns without the last where times are left out.
void write_ruler(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times);

}  // namespace bam::eval
