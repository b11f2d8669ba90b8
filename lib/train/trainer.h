// Trainer - one optimizer step over a batch of any size, and the loss on held-out windows.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "model/training_pass.h"
#include "train/optimizer.h"
#include "train/ranks.h"
#include "train/schedule.h"
#include "train/windows.h"

namespace bam::train {

struct StepResult {
  double loss = 0;           // nats, mean over the scored targets of the step; 0 when there are none
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
  Index targets = 0;
};

struct TrainerSettings {
  OptimizerSettings optimizer;
  Schedule schedule;
  double learning_rate = 1e-3;        // at the peak
  double prior_learning_rate = 1e-3;  // likewise, of shape, scale and loc
  Index micro_windows = 1;            // windows that pass forward and backward at a time
  ParameterFilter trains{};           // what learns, of what is trainable; empty: all
  bool shards_optimizer = false;      // each rank keeps the moments of some parameters
};

// Windows of `context` tokens at a time: enough for matrix products to run at speed, and a function of sizes alone, so
// that the same options give the same bits on every machine.
Index default_micro_windows(Index context, Index batch_windows);

// Bytes of parameters, rounded copies, gradients, moments and activations.
double training_bytes(const ModelConfig& config, Products products, Index micro_windows, Index context);

class Trainer {
 public:
  // `model` outlives the trainer; its configuration's context is the length of the windows. All ranks call step() and
  // evaluate_shared() together, and have the same parameters and results.
  Trainer(Model& model, const TrainerSettings& settings, dist::Communicator& ranks = dist::alone());

  // The loss is the mean over all targets of the batch, and so are the gradients, however the batch is cut. Throws
  // Error when loss or gradients are not finite; then the model has not changed. `give_up` is asked between
  // micro-batches: where it says yes, on any rank, there is no result, and the model is as it was. The batch is this
  // rank's share.
  StepResult step(const Batch& batch);
  std::optional<StepResult> step(const Batch& batch, const std::function<bool()>& give_up);

  // Sum over all targets.
  LossSum evaluate(const ValidationWindows& windows);
  // The same, by all ranks: rank 0 has the windows, the others null.
  LossSum evaluate_shared(const ValidationWindows* windows);
  LossSum evaluate(const Batch& batch);

  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }
  const TrainerSettings& settings() const { return settings_; }

  // To be called after parameters were changed by others.
  void refresh();

 private:
  struct Totals {
    Index targets = 0;
    Index rounds = 0;  // micro-batches of the rank that has most
  };
  Totals totals_of(const Batch& batch);
  void add_gradients(const Batch& batch, Index round, double grad_scale, bool is_last);
  void share_loss();
  void repeat(Routine& routine, bool has_messages, const std::function<void()>& ops);

  Model& model_;
  TrainerSettings settings_;
  dist::Communicator& ranks_;
  Optimizer optimizer_;
  ParameterSet gradients_;
  GradientSum gradient_sum_;
  double last_norm_ = 0;
  TrainingPass pass_;
  std::map<Index, Routine> passes_;  // by the windows of a micro-batch
  Routine update_;
};

}  // namespace bam::train
