// Tuning of a model's priors alone: every other parameter stays as it is, to the bit.
#pragma once

#include <functional>
#include <optional>

#include "eval/run_stamp.h"
#include "io/table.h"
#include "model/prior_checkpoint.h"
#include "train/trainer.h"

namespace bam::train {

struct TuneRequest {
  std::vector<std::string> files;  // token shards
  std::optional<std::string> val;  // none: the last tenth of the windows of `files`, at most 4 batches
  bool shape = true, scale = true, loc = false, ssmax = true;  // what learns; ssmax where the model has it
  std::optional<std::vector<std::vector<HeadPrior>>> start;    // none: the model's own
  Index context = 0;
  Index batch_windows = 0;
  Index steps = 200;
  double learning_rate = 0.02;
  Index val_every = 0;  // 0: ten times in all
  bool border_targets = true;
  Products products = Products::real;
};

struct TuneStep {
  Index step = 0;
  double loss = 0;                 // of the batch
  std::optional<double> val_loss;  // where it was measured
};

// What else a caller wants to know at each validation.
struct TuneWatch {
  std::function<void(const TuneStep&)> report;
  // Larger is better; asked at each validation with the model as it then is. Where it is given it decides which priors
  // are kept, before the loss does. Reaching `enough` ends the tuning.
  std::function<double(const Model&)> measure;
  double enough = 0;
};

struct TuneResult {
  PriorParameters priors;  // the best that were seen
  ModelConfig config;      // of the checkpoint to write
  double loss_model = 0;   // nats by token on the validation windows: the model as it was given
  double loss_start = 0;   // with the priors that tuning began from
  double loss_best = 0;    // with those kept
  double loss_last = 0;    // with those of the last step
  std::optional<double> measure_start, measure_best;
  Index best_step = 0;
  Index steps = 0;
  Index targets = 0;     // of the validation
  Index parameters = 0;  // that learnt
};

// Priors from which a model without any begins: alibi exactly as it is; nope all but uniform (slopes of exp(-10)),
// since from exactly uniform nothing could be learnt about the shape; rope and sinusoidal, which have to do without
// their encoding, as ALiBi.
std::vector<std::vector<HeadPrior>> tuning_start(const ModelPriors& own);

// Throws Error: data of another tokenizer, too little data, no memory, a loss that is not finite.
TuneResult tune_priors(const io::CheckpointReader& reader, Backend& backend, const TuneRequest& request,
                       std::uint64_t seed, const TuneWatch& watch);

// One row.
std::vector<io::Column> tune_columns(bool with_times);
void write_tuning(io::TableWriter& table, const TuneResult& result, const eval::RunStamp& stamp,
                  std::optional<double> seconds);

}  // namespace bam::train
