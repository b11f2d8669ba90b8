// What a model knows of positions, as tables: prior by distance, angles by position, sinusoids by position.
#pragma once

#include <vector>

#include "model/model.h"

namespace bam {

class PositionTables {
 public:
  // For distances below `distances`; rotary and sinusoidal rows for `positions` positions at a time.
  PositionTables(const Model& model, Index distances, Index positions);

  // Recomputes the prior tables from the parameters.
  void refresh();

  // Angles and sinusoids of positions first, first + 1, ..., first + count - 1.
  void move_to(Index first, Index count);

  ConstTensorView prior(Index layer) const;  // [H, distances], empty for encodings without a bias
  ConstTensorView rotary() const;            // [count, d/2, 2] of move_to, empty unless rope
  ConstTensorView sinusoidal() const;        // [count, D] of move_to, empty unless sinusoidal

 private:
  const Model& model_;
  std::vector<Tensor> priors_;  // one, or one per layer
  Tensor rotary_, sinusoidal_;
  Index first_ = -1;
  Index count_ = 0;
};

}  // namespace bam
