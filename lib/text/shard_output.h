// Where ids go: one shard (a file or standard output), or a folder of shards cut between documents.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "io/atomic_file.h"
#include "io/shard.h"
#include "text/shard_journal.h"
#include "text/tokenizer.h"

namespace bam::text {

class ShardOutput {
 public:
  struct Options {
    io::ShardWriter::Options writer;
    Index shard_tokens = 100'000'000;      // in a folder: a shard ends with the document that reaches so many
    bool may_be_empty = false;             // a single file is written without ids, too
    std::optional<ShardJournal::Run> run;  // in a folder: keeps a journal
  };

  // `path` is a folder when it ends with "/" or is one: it is made if need be, and its shards are 00000.tok.zst,
  // 00001.tok.zst, ... Throws Error for a folder that holds shards already, unless they are of an earlier start of the
  // same run, and as io::OutputFile does.
  // `tokenizer` outlives the output.
  ShardOutput(const std::string& path, const Tokenizer& tokenizer, Options options);
  ~ShardOutput();

  static bool is_folder(const std::string& path);
  // Whether `file` is, or would be, in the folder `path`.
  static bool is_in_folder(const std::string& file, const std::string& path);

  // The only file, for require_not_terminal; null for a folder.
  const io::OutputFile* single_file() const;

  // What an earlier start of the run has finished; nothing is left to do when it finished all.
  TokenizeTotals before() const;
  bool was_finished() const { return journal_ && journal_->is_finished(); }
  const ShardJournal& journal() const { return *journal_; }  // where was_finished()

  void append(std::span<const Token> ids, bool ends_document, const TokenizeTotals& so_far);

  struct Finished {
    std::string path;
    io::ShardTotals totals;
  };
  // Ends the last shard; `finished` are those of this start. Only then do a single file and the last of a folder get
  // their final names; none does where there was no id at all, unless a file may be empty. The journal notes the digest
  // of what was held out.
  const std::vector<Finished>& finish(const TokenizeTotals& totals, const std::string& held_out_sha256 = "");

 private:
  void begin_shard();
  void end_shard(const TokenizeTotals& so_far);

  const Tokenizer& tokenizer_;
  Options options_;
  std::string folder_;  // empty for a single file
  std::string path_;    // of the current file
  std::unique_ptr<io::OutputFile> file_;
  std::unique_ptr<io::ShardWriter> writer_;
  std::vector<Finished> finished_;
  std::optional<ShardJournal> journal_;
};

// Throws Error unless the shard at `path` is what the finished run in `folder` held out.
void require_held_out(const std::string& path, const std::string& folder, const std::string& sha256);

}  // namespace bam::text
