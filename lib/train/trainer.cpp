#include "train/trainer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace bam::train {

Index default_micro_windows(Index context, Index batch_windows) {
  constexpr Index kTokens = 2048;
  return std::clamp<Index>(kTokens / context, 1, batch_windows);
}

double training_bytes(const ModelConfig& config, Products products, Index micro_windows, Index context) {
  const double per_parameter = 4.0 * 4 + (products == Products::bf16 ? 2 : 0);
  return per_parameter * static_cast<double>(count_parameters(config)) +
         training_pass_bytes(config, products, micro_windows, context);
}

Trainer::Trainer(Model& model, const TrainerSettings& settings)
    : model_(model),
      settings_(settings),
      optimizer_(model, settings.optimizer, settings.trains),
      gradients_(model.backend(), model.config(), model.real(), settings.trains),
      pass_(model, settings.micro_windows, model.config().context) {
  refresh();
}

void Trainer::refresh() {
  model_.refresh_products();
  pass_.refresh_tables();
}

StepResult Trainer::step(const Batch& batch) {
  return *step(batch, [] { return false; });
}

std::optional<StepResult> Trainer::step(const Batch& batch, const std::function<bool()>& give_up) {
  StepResult result;
  result.targets = count_targets(batch);
  const double grad_scale = result.targets > 0 ? 1.0 / static_cast<double>(result.targets) : 0.0;
  model_.backend().fill_zero(gradients_.all());
  double nll_nats = 0;
  for (Index first = 0; first < batch.windows; first += settings_.micro_windows) {
    if (first > 0 && give_up()) return std::nullopt;
    const Index windows = std::min(settings_.micro_windows, batch.windows - first);
    nll_nats += pass_.forward_backward(slice(batch, first, windows), grad_scale, gradients_).nll_nats;
  }
  result.loss = nll_nats * grad_scale;
  const Index step = optimizer_.step();
  if (!std::isfinite(result.loss)) {
    throw Error("training: the loss is not finite at step " + std::to_string(step + 1) +
                ", expected numbers (a lower --lr?)");
  }
  const double factor = schedule_factor(settings_.schedule, step);
  result.learning_rate = settings_.learning_rate * factor;
  result.gradient_norm = optimizer_.apply(gradients_, result.learning_rate, settings_.prior_learning_rate * factor);
  pass_.refresh_tables();
  return result;
}

LossSum Trainer::evaluate(const ValidationWindows& windows) {
  LossSum total;
  for (Index first = 0; first < windows.windows(); first += settings_.micro_windows) {
    total += evaluate(windows.batch(first, std::min(settings_.micro_windows, windows.windows() - first)));
  }
  return total;
}

LossSum Trainer::evaluate(const Batch& batch) {
  LossSum total;
  for (Index first = 0; first < batch.windows; first += settings_.micro_windows) {
    total += pass_.forward(slice(batch, first, std::min(settings_.micro_windows, batch.windows - first)));
  }
  return total;
}

}  // namespace bam::train
