#include "train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace bam::train {
namespace {

bool is_prior(ParameterRole role) {
  return role == ParameterRole::prior_shape || role == ParameterRole::prior_scale || role == ParameterRole::prior_loc;
}

}  // namespace

const NameTable<OptimizerKind>& optimizer_names() {
  static const NameTable<OptimizerKind> table = {{"radam", OptimizerKind::radam}, {"adamw", OptimizerKind::adamw}};
  return table;
}

Optimizer::Optimizer(Model& model, const OptimizerSettings& settings, const ParameterFilter& trains)
    : model_(model),
      settings_(settings),
      m_(model.backend(), model.config(), model.real(), trains),
      v_(model.backend(), model.config(), model.real(), trains) {}

double Optimizer::apply(const ParameterSet& gradients, double learning_rate, double prior_learning_rate) {
  Backend& backend = model_.backend();
  const ParameterSet& parameters = model_.parameters();
  const std::vector<ParameterInfo>& infos = parameters.infos();
  double squares = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].trainable && !m_[i].empty()) squares += backend.sum_of_squares(gradients[i]);
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) {
    throw Error("training: the norm of the gradients is not finite at step " + std::to_string(step_ + 1) +
                ", expected numbers (a lower --lr?)");
  }
  const double scale = settings_.clip > 0 ? std::min(1.0, settings_.clip / (norm + 1e-6)) : 1.0;
  ++step_;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!infos[i].trainable || m_[i].empty()) continue;
    backend.optimizer_step({.kind = settings_.kind,
                            .param = parameters[i],
                            .grad = gradients[i],
                            .m = m_[i],
                            .v = v_[i],
                            .step = step_,
                            .learning_rate = is_prior(infos[i].role) ? prior_learning_rate : learning_rate,
                            .beta1 = settings_.beta1,
                            .beta2 = settings_.beta2,
                            .eps = settings_.eps,
                            .weight_decay = infos[i].decays() ? settings_.weight_decay : 0.0,
                            .grad_scale = scale});
  }
  model_.refresh_products();
  return norm;
}

}  // namespace bam::train
