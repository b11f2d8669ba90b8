// Optimizer - the moments of all parameters, and the step that changes a model.
#pragma once

#include "dist/communicator.h"
#include "kernels/ops/optimizer.h"
#include "model/model.h"
#include "model/parameter_values.h"

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
  // Moments are zero. `model` outlives the optimizer. Parameters that `trains` leaves out stay as they are. With
  // `shards` each rank keeps the moments of some parameters, and takes their steps for all ranks: the bits are the
  // same.
  Optimizer(Model& model, const OptimizerSettings& settings, const ParameterFilter& trains = {},
            dist::Communicator& ranks = dist::alone(), bool shards = false);

  // One step on every trainable parameter; shape, scale and loc of priors go by their own learning rate. Gradients are
  // scaled by min(1, clip / (norm + 1e-6)). Refreshes what the products read. Returns the norm before clipping, over
  // the trainable parameters. Throws Error when it is not finite; then nothing has changed.
  double apply(const ParameterSet& gradients, double learning_rate, double prior_learning_rate);

  // The same in three parts, for a step whose loss is summed in loss_sum() [1] f64, which is 0 before: what differs
  // between steps; ops alone (Backend::repeat), but for those of several ranks; and what came of it, which waits. Where
  // norm or loss is not finite the step has not been made and nothing has changed.
  struct Totals {
    double norm = 0;
    double loss_sum = 0;
    bool are_finite() const;
  };
  TensorView loss_sum() const { return rows(totals_.view(), 1, 1); }
  void prepare(double learning_rate, double prior_learning_rate);
  void update(const ParameterSet& gradients);
  Totals finish();

  const OptimizerSettings& settings() const { return settings_; }
  const ParameterSet& m() const { return m_; }  // those that this rank keeps
  const ParameterSet& v() const { return v_; }

  // All moments, for rank 0, which asks for all of m and then for all of v; meanwhile the others hand theirs over.
  ParameterValues all_m() const { return all_of(m_); }
  ParameterValues all_v() const { return all_of(v_); }
  void hand_over() const;

  Index step() const { return step_; }  // steps made
  void set_step(Index step) { step_ = step; }

 private:
  ParameterValues all_of(const ParameterSet& moments) const;
  bool is_mine(std::size_t i) const { return owners_.empty() || owners_[i] == ranks_.rank(); }
  void share_parameters_out();

  Model& model_;
  OptimizerSettings settings_;
  dist::Communicator& ranks_;
  std::vector<int> owners_;    // of the moments; empty: every rank has all
  std::vector<bool> trained_;  // by parameter
  ParameterSet m_, v_;
  Tensor sizes_;   // [parameters,4]: StepSizes
  Tensor totals_;  // [2] f64: the sum of all squares, the loss
  Index step_ = 0;
};

}  // namespace bam::train
