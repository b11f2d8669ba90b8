// PrefixReader - one text after the other through one Reader: what a text has in common with the beginning of the one
// before it is not read again. Results are those of reading it whole but for rounding.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "model/kv_cache.h"
#include "text/tokenizer.h"

namespace bam::eval {

class PrefixReader {
 public:
  // For texts of at most `capacity` ids.
  PrefixReader(const Model& model, Index capacity, Index chunk) : reader_(model, 1, capacity, chunk) {}

  // Forgets what this text does not begin with, and what stands behind its first `most` ids. The caller reads the rest
  // of it, from reader().length() on, with reader(); what it reads behind the text is forgotten at the next begin().
  // Returns the number of ids that need not be read.
  Index begin(std::span<const text::Token> ids, Index most) {
    const auto alike = std::mismatch(held_.begin(), held_.end(), ids.begin(), ids.end()).first - held_.begin();
    reader_.truncate(std::min<Index>(alike, most));
    held_.assign(ids.begin(), ids.end());
    return reader_.length();
  }

  // The next text is read from its beginning.
  void forget() { held_.clear(); }

  Reader& reader() { return reader_; }

 private:
  Reader reader_;
  std::vector<text::Token> held_;
};

}  // namespace bam::eval
