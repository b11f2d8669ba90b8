// What is in shards beyond their totals: lengths and frequencies, and documents that two sets of shards share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/table.h"
#include "text/inspect.h"
#include "text/tokenizer.h"

namespace bam::text {

// Reads all ids of a shard, which checks every byte of it.
class ContentCounts {
 public:
  explicit ContentCounts(Index vocab_size) : of_id_(static_cast<std::size_t>(vocab_size)) {}

  void add(std::span<const Token> ids, Token bos);
  void finish();

  // Documents by their number of ids, BOS and EOS included: "LIMIT:COUNT ..." for documents of at most LIMIT ids and
  // more than half of it, LIMIT a power of two; limits without a document are left out.
  std::string lengths() const;
  Index shortest() const { return shortest_; }
  Index longest() const { return longest_; }

  // The most frequent ids, the most frequent first: "ID:COUNT ...".
  std::string frequent(int most) const;
  // Their pieces, as a JSON array.
  std::string frequent_pieces(int most, const Tokenizer& tokenizer) const;
  Index distinct() const;

 private:
  std::vector<std::size_t> most_frequent(int most) const;

  std::vector<Index> of_id_;
  std::vector<Index> of_limit_ = std::vector<Index>(63);
  Index length_ = 0;
  Index shortest_ = 0;
  Index longest_ = 0;
};

// A table with a row for each of `paths`: how many of its documents are among those of `held_out`, ids compared. After
// the last row Error is thrown if there is any. Throws Error for shards whose headers differ.
void write_leaks(const std::string& held_out, const std::vector<std::string>& paths, io::ByteSink& sink,
                 io::TableFormat format, bool header);

}  // namespace bam::text
