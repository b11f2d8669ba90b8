// Optimizer - the moments of all parameters, and the step that changes a model.
#pragma once

#include "kernels/ops/optimizer.h"
#include "model/model.h"

namespace bam::train {

const NameTable<OptimizerKind>& optimizer_names();

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::radam;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;  // on parameters of two dimensions
  double clip = 1.0;          // largest norm of all gradients together; 0 = as they are
};

class Optimizer {
 public:
  // Moments are zero. `model` outlives the optimizer. Parameters that `trains` leaves out stay as they are.
  Optimizer(Model& model, const OptimizerSettings& settings, const ParameterFilter& trains = {});

  // One step on every trainable parameter; shape, scale and loc of priors go by their own learning rate. Gradients are
  // scaled by min(1, clip / (norm + 1e-6)). Refreshes what the products read. Returns the norm before clipping, over
  // the trainable parameters. Throws Error when it is not finite; then nothing has changed.
  double apply(const ParameterSet& gradients, double learning_rate, double prior_learning_rate);

  const OptimizerSettings& settings() const { return settings_; }
  const ParameterSet& m() const { return m_; }
  const ParameterSet& v() const { return v_; }
  Index step() const { return step_; }  // steps made
  void set_step(Index step) { step_ = step; }

 private:
  Model& model_;
  OptimizerSettings settings_;
  ParameterSet m_, v_;
  Index step_ = 0;
};

}  // namespace bam::train
