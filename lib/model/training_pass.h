// TrainingPass - forward and backward over windows of packed documents. All activations are laid out once, for a fixed
// number of windows and tokens; nothing is allocated per step.
#pragma once

#include <functional>
#include <vector>

#include "model/batch.h"
#include "model/layers.h"
#include "model/model.h"
#include "model/position_tables.h"

namespace bam {

struct LossSum {
  double nll_nats = 0;  // over the scored targets
  Index targets = 0;

  LossSum& operator+=(const LossSum& other) {
    nll_nats += other.nll_nats;
    targets += other.targets;
    return *this;
  }
  double mean() const { return targets > 0 ? nll_nats / static_cast<double>(targets) : 0.0; }
};

// Bytes of activations for windows x tokens.
double training_pass_bytes(const ModelConfig& config, Products products, Index windows, Index tokens);

class TrainingPass {
 public:
  // At most `windows` windows of `tokens` tokens at a time.
  TrainingPass(Model& model, Index windows, Index tokens);

  // Loss alone. `logits` [windows x tokens, V] real receives the logits unless it is empty.
  LossSum forward(const Batch& batch, TensorView logits = {});

  // Adds the gradient of grad_scale x (sum of the nll) to `gradients` (a ParameterSet of the real type). Of parameters
  // that the set does not hold nothing is computed, and the pass ends where none below is held. With
  // grad_scale = 1 / targets of the whole step, micro-batches of any size add up to the mean over all targets.
  // `done` is told as the pass goes backward: what this batch adds to the gradients of this layer and of all above it
  // is there (the number of layers means the head; -1, at the end, everything). It may be told the same layer twice.
  using LayerDone = std::function<void(Index layer)>;
  LossSum forward_backward(const Batch& batch, double grad_scale, const ParameterSet& gradients,
                           const LayerDone& done = {});

  // The same in two parts. The first is all that differs between batches of as many windows; the second does nothing
  // but ops (Backend::repeat), waits for nothing, and adds the sum of the nll to `nll_sum` [1] f64.
  void load(const Batch& batch, double grad_scale);
  void add_gradients(const ParameterSet& gradients, TensorView nll_sum, const LayerDone& done = {});

  // To be called after parameters changed: prior tables depend on them.
  void refresh_tables() { tables_.refresh(); }

 private:
  struct LayerActivations {
    Tensor x_in, attn_rstd, attn_in;  // residual before the layer; its norm
    Tensor q, k, v, attended, lse;    // attended: real, for the backward pass
    Tensor attended_product;          // attended in the compute type; unused when that is the real type
    Tensor x_mid, ffn_rstd, ffn_in, gate, up;
  };

  void forward_layers();
  void head(const ModelParameters* gradients, TensorView logits, TensorView nll_sum);
  LossSum read_loss(const Batch& batch);
  void backward_feed_forward(Index layer, const ModelParameters& gradients);
  void backward_attention(Index layer, const ModelParameters& gradients, bool ends_here);
  void add_weight_gradient(ConstTensorView dy, ConstTensorView x, TensorView gradient);
  TensorView norm_gradient(TensorView gradient) const;

  Model& model_;
  Index windows_, tokens_;
  Index batch_windows_ = 0;  // of the batch in hand
  PositionTables tables_;
  std::vector<LayerActivations> layers_;
  Tensor x_, final_rstd_, final_in_;
  Tensor ids_, targets_, first_key_, grad_scale_;
  Tensor ffn_act_, logits_, dlogits_, nll_, nll_sum_;
  Tensor dx_, dx_product_, dnorm_, dgate_, dup_, dattended_, dq_, dk_, dv_, dprior_, dhead_product_, dnorm_weight_;
};

}  // namespace bam
