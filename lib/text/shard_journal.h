// What a run that fills a folder with shards has finished, so that the same run, started again, goes on behind it.
// FOLDER/bam-tokenize.jsonl: a line that describes the run, one for each shard with its name, its digest and the counts
// up to its end, and a last one when all is done. The counts hold a fingerprint of what was read: other input under the
// same names is noticed.
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

  // Inputs and options of a run.
  struct Run {
    std::string options;  // JSON
    std::vector<std::string> files;
    std::vector<Index> bytes;     // of each file, -1 for a pipe
    std::vector<Index> times_ns;  // when each was changed; it may have been touched since, and be the same
  };
  static Run describe(std::string options, const std::vector<std::string>& files);

  // Reads what there is. Throws Error for a journal of another run or version, for one that is damaged, and for shards
  // that are not those it names.
  ShardJournal(const std::string& folder, Run run);

  static std::string path_in(const std::string& folder);

  const std::vector<Entry>& entries() const { return entries_; }
  // Whether there is one of this run: one of another run that has finished no shard is none.
  bool has_begun() const { return has_begun_; }
  bool is_finished() const { return finished_.has_value(); }
  // Are all inputs files that were not changed since the run began?
  bool has_unchanged_files() const { return has_unchanged_files_; }
  // The digest of the shard that a finished run held out, "" for none.
  const std::string& held_out_sha256() const { return held_out_sha256_; }
  // Of all shards so far, or of the finished run.
  TokenizeTotals totals() const;

  // Each replaces the file as a whole, synced.
  void begin() const { write(); }
  void add(Entry entry);
  void finish(const TokenizeTotals& totals, const std::string& held_out_sha256);

 private:
  void read(const std::string& content);
  std::size_t read_run(const std::string& content);
  void write() const;

  std::string folder_;
  Run run_;
  bool has_begun_ = false;
  bool has_unchanged_files_ = false;
  std::string held_out_sha256_;
  std::vector<Entry> entries_;
  std::optional<TokenizeTotals> finished_;
};

}  // namespace bam::text
