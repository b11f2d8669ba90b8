#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dist/shared_error.h"

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

Trainer::Trainer(Model& model, const TrainerSettings& settings, dist::Communicator& ranks)
    : model_(model),
      settings_(settings),
      ranks_(ranks),
      optimizer_(model, settings.optimizer, settings.trains, ranks, settings.shards_optimizer),
      gradients_(model.backend(), model.config(), model.real(), settings.trains),
      gradient_sum_(ranks, gradients_),
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
  const Totals totals = totals_of(batch);
  result.targets = totals.targets;
  const double grad_scale = result.targets > 0 ? 1.0 / static_cast<double>(result.targets) : 0.0;
  model_.backend().fill_zero(gradients_.all());
  model_.backend().fill_zero(optimizer_.loss_sum());
  for (Index round = 0; round < totals.rounds; ++round) {
    if (round > 0 && on_any(ranks_, give_up())) return std::nullopt;
    add_gradients(batch, round, grad_scale, round + 1 == totals.rounds);
  }
  gradient_sum_.finish();
  share_loss();
  const Index step = optimizer_.step();
  const double factor = schedule_factor(settings_.schedule, step);
  result.learning_rate = settings_.learning_rate * factor;
  optimizer_.prepare(result.learning_rate, settings_.prior_learning_rate * factor);
  repeat(update_, settings_.shards_optimizer, [&] {
    optimizer_.update(gradients_);
    pass_.refresh_tables();
  });
  const Optimizer::Totals found = optimizer_.finish();  // the one wait of a step
  result.loss = found.loss_sum * grad_scale;
  result.gradient_norm = last_norm_ = found.norm;
  if (!found.are_finite()) {
    throw dist::SharedError(
        std::string("training: the ") + (std::isfinite(result.loss) ? "norm of the gradients" : "loss") +
        " is not finite at step " + std::to_string(step + 1) + ", expected numbers (a lower --lr?)");
  }
  return result;
}

// Messages of several ranks are no ops.
void Trainer::repeat(Routine& routine, bool has_messages, const std::function<void()>& ops) {
  if (has_messages && ranks_.size() > 1) return ops();
  model_.backend().repeat(routine, ops);
}

// Each rank has the loss of its own share: afterwards all have the sum.
void Trainer::share_loss() {
  if (ranks_.size() == 1) return;
  Backend& backend = model_.backend();
  double nll_nats = 0;
  backend.copy_out({&nll_nats, DType::f64, {1}}, optimizer_.loss_sum());
  const std::vector<double> all = ranks_.gather_all({&nll_nats, 1});
  nll_nats = std::accumulate(all.begin(), all.end(), 0.0);
  backend.copy_in(optimizer_.loss_sum(), {&nll_nats, DType::f64, {1}});
}

// What the ranks have to agree on before a step. The last norm comes along: gradients are the same bits on all ranks,
// or their models would drift apart unseen.
Trainer::Totals Trainer::totals_of(const Batch& batch) {
  const Index rounds = (batch.windows + settings_.micro_windows - 1) / settings_.micro_windows;
  const double own[] = {static_cast<double>(count_targets(batch)), static_cast<double>(rounds), last_norm_};
  const std::vector<double> all = ranks_.gather_all(own);
  Totals totals;
  for (std::size_t i = 0; i < all.size(); i += 3) {
    totals.targets += static_cast<Index>(all[i]);
    totals.rounds = std::max(totals.rounds, static_cast<Index>(all[i + 1]));
    if (all[i + 2] != all[2])
      throw dist::SharedError("training: the ranks have summed different gradients, expected the same bits");
  }
  return totals;
}

// One micro-batch, which a rank may not have. In the last round of all ranks gradients are final layer by layer, and
// their sums begin.
void Trainer::add_gradients(const Batch& batch, Index round, double grad_scale, bool is_last) {
  TrainingPass::LayerDone done;
  if (is_last) {
    gradient_sum_.begin();
    done = [this](Index layer) { gradient_sum_.layer_done(layer); };
  }
  const Index first = round * settings_.micro_windows;
  const Index windows = std::min(settings_.micro_windows, batch.windows - first);
  if (windows <= 0) return;
  pass_.load(slice(batch, first, windows), grad_scale);
  repeat(passes_[windows], is_last, [&] { pass_.add_gradients(gradients_, optimizer_.loss_sum(), done); });
}

LossSum Trainer::evaluate_shared(const ValidationWindows* windows) {
  const double own = windows != nullptr ? static_cast<double>(windows->windows()) : 0;
  const auto count = static_cast<Index>(ranks_.gather_all({&own, 1}).front());
  LossSum total;
  // A micro-batch for each rank at a time, and the sum in the order in which one rank would add them up.
  const Index at_once = settings_.micro_windows * ranks_.size();
  for (Index first = 0; first < count; first += at_once) {
    const Index here = std::min(at_once, count - first);
    const LossSum part = evaluate(share_out(ranks_, windows != nullptr ? windows->batch(first, here) : Batch{}).own);
    const double numbers[] = {part.nll_nats, static_cast<double>(part.targets)};
    const std::vector<double> all = ranks_.gather_all(numbers);
    for (std::size_t i = 0; i < all.size(); i += 2) total += {all[i], static_cast<Index>(all[i + 1])};
  }
  return total;
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
