// SharedChunks - one text after the other through one Reader: the chunks that a text has in common with the beginning
// of the one before it are not read again. Chunks begin at the same places whatever is kept, so that results, and
// counts of what attention left out, are the same bits with and without sharing, and whatever text comes before.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "model/kv_cache.h"
#include "text/tokenizer.h"

namespace bam::eval {

class SharedChunks {
 public:
  // For texts of at most `capacity` ids. Without `share` each is read from its beginning.
  SharedChunks(const Model& model, Index capacity, Index chunk, bool share = true)
      : share_(share), reader_(model, 1, capacity, chunk) {}

  // Has the whole chunks read that lie in the first `unscored` ids of this text. The caller reads the rest of it, from
  // reader().length() on, with reader(); what it reads is forgotten at the next begin(). `progress` gets
  // reader().length() after each chunk. Returns the number of ids that were kept.
  Index begin(std::span<const text::Token> ids, Index unscored, const std::function<void(Index)>& progress = {}) {
    const Index chunk = reader_.chunk();
    const auto alike = std::mismatch(held_.begin(), held_.end(), ids.begin(), ids.end()).first - held_.begin();
    const Index kept = share_ ? std::min({std::ssize(counts_), alike / chunk, unscored / chunk}) : 0;
    counts_.resize(static_cast<std::size_t>(kept));
    reader_.truncate(kept * chunk);
    held_.assign(ids.begin(), ids.end());
    const std::vector<std::int32_t> first_key(static_cast<std::size_t>(chunk), 0);
    const std::vector<std::int32_t> targets(static_cast<std::size_t>(chunk), kNotScored);
    while (std::ssize(counts_) < unscored / chunk) {
      const auto position = static_cast<std::size_t>(reader_.length());
      reader_.read(ids.subspan(position, static_cast<std::size_t>(chunk)), first_key, targets);
      counts_.push_back(reader_.take_counts());
      if (progress) progress(reader_.length());
    }
    return kept * chunk;
  }

  Reader& reader() { return reader_; }

  // Of this text as far as it is read, what was kept included.
  SkipCounts take_counts() {
    SkipCounts all = reader_.take_counts();
    for (const SkipCounts& chunk : counts_) all += chunk;
    return all;
  }

 private:
  bool share_;
  Reader reader_;
  std::vector<text::Token> held_;
  std::vector<SkipCounts> counts_;  // of each of the chunks that can be kept
};

}  // namespace bam::eval
