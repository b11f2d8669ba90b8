// What a run that fills a folder with shards has finished, so that the same run, started again, goes on behind it.
// FOLDER/bam-tokenize.jsonl: a line that describes the run, one for each shard with its name, its digest and the counts
// up to its end, and a last one when all is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/tokenize.h"

namespace bam::text {

class ShardJournal {
 public:
  struct Entry {
    std::string shard;  // the file's name
    std::string sha256;
    TokenizeTotals totals;  // up to the end of this shard
  };

  // Reads what there is. `run` describes inputs and options, as JSON. Throws Error for a journal of another run, for
  // one that is damaged, and for shards that are not those it names.
  ShardJournal(const std::string& folder, std::string run);

  static std::string path_in(const std::string& folder);

  const std::vector<Entry>& entries() const { return entries_; }
  bool is_finished() const { return finished_.has_value(); }
  // Of all shards so far, or of the finished run.
  TokenizeTotals totals() const;

  // Each replaces the file as a whole, synced.
  void begin() const { write(); }
  void add(Entry entry);
  void finish(const TokenizeTotals& totals);

 private:
  void read(const std::string& content);
  void write() const;

  std::string folder_;
  std::string run_;
  std::vector<Entry> entries_;
  std::optional<TokenizeTotals> finished_;
};

}  // namespace bam::text
