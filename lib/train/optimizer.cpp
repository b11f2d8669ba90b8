#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "dist/shared_error.h"
#include "train/ranks.h"

namespace bam::train {
namespace {

ParameterFilter kept_here(const Model& model, const ParameterFilter& trains, const std::vector<int>& owners, int rank) {
  if (owners.empty()) return trains;
  std::set<std::string> names;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == rank) names.insert(model.parameters().infos()[i].name);
  }
  return [names, trains](const ParameterInfo& info) { return names.contains(info.name) && (!trains || trains(info)); };
}

bool is_prior(ParameterRole role) {
  return role == ParameterRole::prior_shape || role == ParameterRole::prior_scale || role == ParameterRole::prior_loc;
}

}  // namespace

const NameTable<OptimizerKind>& optimizer_names() {
  static const NameTable<OptimizerKind> table = {{"radam", OptimizerKind::radam}, {"adamw", OptimizerKind::adamw}};
  return table;
}

Optimizer::Optimizer(Model& model, const OptimizerSettings& settings, const ParameterFilter& trains,
                     dist::Communicator& ranks, bool shards)
    : model_(model),
      settings_(settings),
      ranks_(ranks),
      owners_(shards && ranks.size() > 1 ? share_parameters(model.parameters().infos(), ranks.size())
                                         : std::vector<int>{}),
      m_(model.backend(), model.config(), model.real(), kept_here(model, trains, owners_, ranks.rank())),
      v_(model.backend(), model.config(), model.real(), kept_here(model, trains, owners_, ranks.rank())) {
  for (const ParameterInfo& info : model.parameters().infos()) {
    trained_.push_back(info.trainable && (!trains || trains(info)));
  }
}

double Optimizer::apply(const ParameterSet& gradients, double learning_rate, double prior_learning_rate) {
  Backend& backend = model_.backend();
  const ParameterSet& parameters = model_.parameters();
  const std::vector<ParameterInfo>& infos = parameters.infos();
  double squares = 0;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (trained_[i]) squares += backend.sum_of_squares(gradients[i]);
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) {
    throw dist::SharedError("training: the norm of the gradients is not finite at step " + std::to_string(step_ + 1) +
                            ", expected numbers (a lower --lr?)");
  }
  const double scale = settings_.clip > 0 ? std::min(1.0, settings_.clip / (norm + 1e-6)) : 1.0;
  ++step_;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!trained_[i] || !is_mine(i)) continue;
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
  share_parameters_out();
  model_.refresh_products();
  return norm;
}

void Optimizer::share_parameters_out() {
  if (owners_.empty()) return;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (trained_[i]) ranks_.start_broadcast(model_.parameters()[i], owners_[i]);
  }
  ranks_.finish();
}

ParameterValues Optimizer::all_of(const ParameterSet& moments) const {
  return [this, own = values_of(moments, model_.backend())](std::size_t i) {
    if (is_mine(i)) return own(i);
    std::vector<float> values(static_cast<std::size_t>(model_.parameters().infos()[i].shape.count()));
    ranks_.receive(std::as_writable_bytes(std::span(values)), owners_[i]);
    return values;
  };
}

void Optimizer::hand_over() const {
  if (owners_.empty()) return;
  for (const ParameterSet* moments : {&m_, &v_}) {
    const ParameterValues own = values_of(*moments, model_.backend());
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      if (is_mine(i)) ranks_.send(std::as_bytes(std::span<const float>(own(i))), 0);
    }
  }
}

}  // namespace bam::train
