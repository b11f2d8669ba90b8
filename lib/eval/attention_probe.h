// AttentionProbe - what heads attend to on a given text, row by row, without any row being kept.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "eval/reading.h"

namespace bam::eval {

// One query of one head: three distributions over the visible keys, by distance (0 is the query itself).
//   content    softmax(z q.k / sqrt d)      rotations included: rope's position cannot be taken out of it
//   position   softmax(b), softmax(z b) where SSMax scales the prior; uniform without a prior
//   posterior  the attention itself: content x position / Z, with Z = sum of content x position
struct AttentionRow {
  Index layer = 0;
  Index head = 0;
  Index query = 0;  // position in the window
  std::span<const double> content, position, posterior;
  double ln_z = 0;

  Index visible() const { return std::ssize(posterior); }
};
using AttentionVisitor = std::function<void(const AttentionRow&)>;

class AttentionProbe {
 public:
  // For windows of up to `context` tokens, read `chunk` at a time. `loaded` outlives the probe.
  AttentionProbe(const LoadedModel& loaded, Index context, Index chunk);

  // Visits these layers and heads only, which are in order; all of them otherwise.
  void choose(std::vector<Index> layers, std::vector<Index> heads);

  // Reads one window from its beginning, as training would: documents begin at BOS; the model's reading rule holds, its
  // window too. Visits every layer and head of the queries at these positions, which are in order; by chunk, layer,
  // head, query. Computed in double from the backend's q, k and prior.
  void read(std::span<const std::int32_t> ids, std::span<const Index> queries, const AttentionVisitor& visit);

 private:
  void visit_layer(const AttentionInputs& inputs, std::span<const Index> queries, const AttentionVisitor& visit);
  void gather_keys(Index kv_head, const Shape& shape);
  void visit_row(const AttentionInputs& inputs, Index head, Index query, const AttentionVisitor& visit);
  // Logits q.k / sqrt d of one head for the keys [first, query], nearest first.
  void content_logits(std::span<const double> q, Index first, Index query);

  const LoadedModel& loaded_;
  Reader reader_;
  std::vector<Index> layers_, heads_;
  std::vector<std::int32_t> first_key_;
  std::vector<double> ssmax_scale_;  // of the layer in hand
  std::vector<double> q_, prior_, keys_by_channel_;
  std::vector<float> k_;
  std::vector<double> scores_, content_, position_, posterior_;
};

}  // namespace bam::eval
