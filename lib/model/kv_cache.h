// KvCache - keys and values of all positions read so far, by layer; and Reader, the forward pass over a text in chunks.
// Memory grows linearly with length. Scores are those of one pass over the whole text, whatever the chunks.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/batch.h"
#include "model/layers.h"
#include "model/model.h"
#include "model/position_tables.h"
#include "model/skip_counts.h"

namespace bam {

// Bytes that a Reader of this many texts and positions takes: cache, tables and the activations of a chunk.
double reader_bytes(const ModelConfig& config, Products products, Index texts, Index capacity, Index chunk);

// What is known of each scored position.
struct Scores {
  std::vector<double> nll_nats;   // 0 where not scored
  std::vector<std::int32_t> hit;  // 1: the target has the largest logit, no ties
};

// What a layer's attention is about to read, on the device and valid during the call: the queries of a chunk, and the
// keys up to its end.
struct AttentionInputs {
  Index layer = 0;
  Index first_position = 0;  // of the queries
  ConstTensorView q;         // [1,n,H,d]
  ConstTensorView k;         // [1,first_position + n,Hkv,d]
  ConstTensorView prior;     // [H,distances], empty without
};
using AttentionObserver = std::function<void(const AttentionInputs&)>;

class Reader {
 public:
  // Up to `capacity` positions of `texts` texts that advance together; chunks of at most `chunk` tokens. More than one
  // text only in a single chunk of `capacity` tokens. Throws Error when the memory cannot be had.
  Reader(const Model& model, Index texts, Index capacity, Index chunk);

  Index length() const { return length_; }  // positions read
  Index capacity() const { return capacity_; }
  Index chunk() const { return chunk_; }

  SkipCounts take_counts();  // since they were last taken

  // Forgets positions from `length` on (0 = everything): a common prefix can be kept and continued differently.
  void truncate(Index length);

  // Reads ids, at least one and as many as there is room for, of one text that is one document. Returns the logits
  // behind the last of them, [vocabulary].
  std::vector<double> next_logits(std::span<const std::int32_t> ids);

  // Reads ids [texts, n], n <= chunk, at positions length() ... first_key and targets likewise (absolute positions;
  // kNotScored). Only scored positions go through the last layer's feed-forward and the head. Results [texts, n].
  Scores read(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
              std::span<const std::int32_t> targets);

  // Reads on likewise, scores nothing, and shows what every layer's attention reads. One text only.
  void observe(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key,
               const AttentionObserver& observer);

 private:
  struct Layer {
    Tensor k, v;    // [texts, capacity, Hkv, d]
    Tensor bounds;  // of blocks of keys, where the model may skip some
  };
  // Rows of a chunk that the last layer and the head compute: from the first scored one to the last.
  struct Range {
    Index first = 0;
    Index count = 0;
  };
  Range scored_range(std::span<const std::int32_t> targets, Index n) const;
  // Embeds the ids and runs all layers, the last one for these queries alone.
  void run_layers(std::span<const std::int32_t> ids, std::span<const std::int32_t> first_key, Range last_queries,
                  const AttentionObserver* observer);
  void run_layer(Index layer, Index n, Range queries, std::span<const std::int32_t> all_first_keys,
                 const AttentionObserver* observer);
  std::span<const std::int32_t> narrowed(std::span<const std::int32_t> first_key, Index n);
  ConstTensorView bound_keys(Index layer, Index n);
  void count_pairs(Index layer, Range queries, std::span<const std::int32_t> first_key);
  Scores score(Range range, std::span<const std::int32_t> targets);

  const Model& model_;
  Index texts_, capacity_, chunk_;
  Index length_ = 0;
  PositionTables tables_;
  std::vector<Layer> layers_;
  SkipCounts counts_;
  std::vector<std::int32_t> narrowed_;
  Tensor ids_, first_key_, targets_;
  Tensor x_, norm_, rstd_, q_, attended_, attended_product_, lse_, gate_, up_, act_, logits_, nll_, hit_, skipped_;
};

}  // namespace bam
