// Decoder - reads a text in chunks and says what may follow: the logits behind its last token, over a cache of keys and
// values that a continuation or another ending of the same text goes on from.
#pragma once

#include <span>
#include <vector>

#include "model/layers.h"

namespace bam::eval {

class Decoder {
 public:
  // Of one text of up to `capacity` positions. Takes the memory of a Reader of this size (reader_bytes).
  Decoder(const Model& model, Index capacity, Index chunk);

  Index length() const { return length_; }  // positions read
  Index capacity() const { return capacity_; }

  // Forgets positions from `length` on.
  void truncate(Index length);

  // Reads ids, at least one, at positions length()... Returns the logits behind the last, [vocabulary], valid until the
  // next call. Throws Error where they pass the capacity.
  std::span<const double> read(std::span<const std::int32_t> ids);

 private:
  struct Layer {
    Tensor k, v;    // [1, capacity, Hkv, d]
    Tensor bounds;  // of blocks of keys, where the model may skip some
  };
  void read_chunk(std::span<const std::int32_t> ids, bool is_last);
  // Of the chunk's n positions the last `queries` go through attention and what is behind it.
  void run_layer(Index layer, Index n, Index queries);

  const Model& model_;
  Index capacity_, chunk_;
  Index length_ = 0;
  PositionTables tables_;
  std::vector<Layer> layers_;
  Tensor ids_, first_key_;
  Tensor x_, norm_, rstd_, q_, attended_, attended_product_, lse_, gate_, up_, act_, logits_, skipped_;
  std::vector<double> last_;
};

}  // namespace bam::eval
