// TokenFiles - the ids of several shards as one sequence, for reading anywhere.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/shard.h"

namespace bam::train {

using io::Token;

// Throws Error "PATH: ..." with the difference, when the shard at `path` may not be used together with the others.
void require_same_header(const std::string& path, const io::ShardHeader& header, const std::string& first_path,
                         const io::ShardHeader& first);

class TokenFiles {
 public:
  enum class Pipes { refuse, keep_in_memory };

  // Opens all of them, in the order of `paths`. Throws Error: none, missing, damaged, headers that differ; a pipe,
  // unless its ids may be kept in memory.
  explicit TokenFiles(const std::vector<std::string>& paths, Pipes pipes = Pipes::refuse);

  const io::ShardHeader& header() const { return header_; }
  const std::vector<io::TokenizerFile>& tokenizer_files() const { return tokenizer_files_; }
  Index tokens() const { return tokens_; }
  std::string name() const;  // for messages: "a.tok.zst and 3 more"

  // Ids first, first + 1, ... into all of `out`. Throws Error outside [0, tokens()] and for damaged frames.
  void read(Index first, std::span<Token> out);

  // One for each path: the digest of its content.
  const std::vector<std::string>& digests() const { return digests_; }

 private:
  struct Part {
    std::optional<io::ShardFile> file;
    std::vector<Token> memory;  // of a pipe
    Index first = 0;            // its first id, in the whole sequence
    Index count = 0;
  };

  std::vector<std::string> paths_;
  std::vector<Part> parts_;
  std::vector<std::string> digests_;
  io::ShardHeader header_;
  std::vector<io::TokenizerFile> tokenizer_files_;
  Index tokens_ = 0;
};

}  // namespace bam::train
