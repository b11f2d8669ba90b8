#include "train/optimizer.h"

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
      v_(model.backend(), model.config(), model.real(), kept_here(model, trains, owners_, ranks.rank())),
      sizes_(model.backend(), model.real(), {std::ssize(model.parameters().infos()), 4}),
      totals_(model.backend(), DType::f64, {2}) {
  model.backend().fill_zero(totals_);
  for (const ParameterInfo& info : model.parameters().infos()) {
    trained_.push_back(info.trainable && (!trains || trains(info)));
  }
}

bool Optimizer::Totals::are_finite() const {
  return std::isfinite(norm) && std::isfinite(loss_sum);
}

void Optimizer::prepare(double learning_rate, double prior_learning_rate) {
  const std::vector<ParameterInfo>& infos = model_.parameters().infos();
  const OptimizerRule rule{settings_.kind, settings_.beta1, settings_.beta2, settings_.eps};
  ++step_;
  std::vector<StepSizes> sizes;
  for (const ParameterInfo& info : infos) {
    sizes.push_back(step_sizes(rule, step_, is_prior(info.role) ? prior_learning_rate : learning_rate,
                               info.decays() ? settings_.weight_decay : 0.0));
  }
  static_assert(sizeof(StepSizes) == 4 * sizeof(double));
  model_.backend().copy_in(sizes_, {sizes.data(), DType::f64, sizes_.shape()});
}

void Optimizer::update(const ParameterSet& gradients) {
  Backend& backend = model_.backend();
  const ParameterSet& parameters = model_.parameters();
  const TensorView squares = rows(totals_.view(), 0, 1);
  backend.fill_zero(squares);
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    if (trained_[i]) backend.sum({.x = gradients[i], .total = squares, .squares = true});
  }
  for (std::size_t i = 0; i < trained_.size(); ++i) {
    if (!trained_[i] || !is_mine(i)) continue;
    backend.optimizer_step({.param = parameters[i],
                            .grad = gradients[i],
                            .m = m_[i],
                            .v = v_[i],
                            .sizes = rows(sizes_.view(), static_cast<Index>(i), 1).as({4}),
                            .totals = totals_,
                            .clip = settings_.clip,
                            .beta1 = settings_.beta1,
                            .beta2 = settings_.beta2});
  }
  share_parameters_out();
  model_.refresh_products();
}

Optimizer::Totals Optimizer::finish() {
  double totals[2];
  model_.backend().copy_out({totals, DType::f64, {2}}, totals_);
  model_.backend().fill_zero(loss_sum());
  const Totals found{std::sqrt(totals[0]), totals[1]};
  if (!found.are_finite()) --step_;
  return found;
}

double Optimizer::apply(const ParameterSet& gradients, double learning_rate, double prior_learning_rate) {
  prepare(learning_rate, prior_learning_rate);
  update(gradients);
  const Totals totals = finish();
  if (!totals.are_finite()) {
    throw dist::SharedError("training: the norm of the gradients is not finite at step " + std::to_string(step_ + 1) +
                            ", expected numbers (a lower --lr?)");
  }
  return totals.norm;
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
