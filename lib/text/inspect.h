// Shards seen from outside: what they hold, whether they are whole, and their text again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/types.h"
#include "io/shard.h"
#include "io/stream.h"
#include "io/table.h"
#include "text/documents.h"

namespace bam::text {

struct ShardSummary {
  std::string name;
  io::ShardHeader header;
  Index file_bytes = 0;
  Index members = 0;  // shards put one behind the other
  Index documents = 0;
  Index tokens = 0;
  std::string sha256;  // io::ShardFile::digest
  // Of a whole reading; see ContentCounts.
  Index shortest = 0;
  Index longest = 0;
  std::string lengths;
  Index distinct = 0;
  std::string frequent;
  std::string frequent_pieces;
};

// Reads all of a file or pipe, and checks every byte of it. Throws Error as io::ShardFile and io::ShardReader do.
ShardSummary summarise_shard(const std::string& path);

// A table with a row for each shard. With `check_all` the row says whether it is whole, and if not, why; after the
// last row Error is thrown if any is not. Without, the first that cannot be read throws.
void write_summaries(const std::vector<std::string>& paths, bool check_all, io::ByteSink& sink, io::TableFormat format,
                     bool header);

// Writes the documents of shards as text, in the format that reads them back:
//   automatic  as they are, a newline between one and the next: a single text comes back to the byte
//   text       as they are, nothing between
//   lines      each followed by a newline
//   jsonl      each as an object with one field
// `progress` gets the number of ids done. A document is held in memory as a whole. Throws Error for a shard that does
// not carry its tokenizer.
void decode_shards(const std::vector<std::string>& paths, const InputOptions& options, io::ByteSink& sink,
                   const std::function<void(Index)>& progress = {});

}  // namespace bam::text
