// Multiple choice: which continuation of a prompt a model finds the most likely.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/python_random.h"
#include "eval/item_rows.h"
#include "eval/mcq_items.h"
#include "eval/prefix_reader.h"
#include "eval/reading.h"
#include "eval/run_stamp.h"

namespace bam::eval {

// Solved examples before the question, drawn as lm-evaluation-harness draws them.
class McqShots {
 public:
  // `from` may be the items themselves: then an item is never its own example. For mmlu the first `count` of the item's
  // subject; else a random sample for each item, drawn in the order of the items from CPython's generator.
  McqShots(McqTask task, Index count, std::vector<McqItem> from, bool from_items, std::uint64_t seed);

  // The prompt of each item with its examples, in order. Throws Error where there are too few to draw from.
  std::vector<std::string> prompts(const std::vector<McqItem>& items) const;

 private:
  std::string examples(const std::vector<const McqItem*>& chosen) const;
  std::vector<const McqItem*> drawn_without(const McqItem& item, PythonRandom& random) const;

  McqTask task_;
  Index count_;
  std::vector<McqItem> from_;
  bool from_items_;
  std::uint64_t seed_;
};

struct McqOptions {
  BosUse bos = BosUse::automatic;
  Index context = 0;  // prompts and choices are cut from the left to so many tokens; 0: never
  Index chunk = kDefaultChunk;
  double memory_bytes = 0;
};

struct McqAnswer {
  std::vector<double> log_likelihoods;                // of each choice, in nats
  Index by_sum = 0, by_characters = 0, by_bytes = 0;  // the best choice, of equals the first
  bool is_tied = false;                               // another choice has the best sum too
  bool shares_token = false;                          // a token of some choice began in the prompt
  Index cut = 0;                                      // tokens left out in front, of the longest choice
  Index read = 0;                                     // tokens of all texts, shared or not
  SkipCounts skipped = {};
  double seconds = 0;
};

// Items that lie together go to one share, and only they are read once as far as they are alike: each item is rounded
// the same in every share.
inline constexpr Index kMcqBlock = 32;

// Item by item; neighbouring texts are read once as far as they are alike.
class McqScorer {
 public:
  McqScorer(const LoadedModel& loaded, const McqOptions& options) : loaded_(loaded), options_(options) {}

  // Makes room for an item. Throws Error for one that answer() would refuse.
  void check(const McqItem& item, const std::string& prompt);

  // The next item is read from its beginning, so that its last digits do not depend on those before it.
  void forget();

  // `prompt` is the item's with what stands before it. Throws Error where it does not fit into memory.
  McqAnswer answer(const McqItem& item, const std::string& prompt);

 private:
  struct Text {
    std::vector<text::Token> ids;
    std::size_t first_scored = 0;  // at least 1
  };
  Text text_of(const std::string& prompt, const std::string& choice, McqAnswer& answer) const;
  // Of a reader for texts of so many ids to read.
  Index capacity_for(std::size_t inputs) const;
  double score(const Text& text, McqAnswer& answer);

  const LoadedModel& loaded_;
  McqOptions options_;
  std::size_t longest_ = 1;  // of the texts that were checked
  std::optional<PrefixReader> prefix_;
};

struct McqRun {
  std::string task, shots, bos, context;
  RunStamp stamp;
};

std::vector<io::Column> mcq_item_columns();
ItemRow mcq_item_row(const McqItem& item, Index number, const McqAnswer& answer, const McqRun& run, bool with_times);

// A row for each subject and one for all where there are several; accuracies with standard errors as the harness's.
std::vector<io::Column> mcq_columns();
void write_mcq(io::TableWriter& table, const std::vector<ItemRow>& items, bool with_times);

}  // namespace bam::eval
