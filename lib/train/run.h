// A whole training: data, model, steps, validation, log and checkpoints.
#pragma once

#include <functional>

#include "dist/communicator.h"
#include "train/checkpoint.h"
#include "train/request.h"

namespace bam::train {

struct StepReport {
  Index step = 0;    // made, those before a resume included
  Index steps = 0;   // wanted
  Index tokens = 0;  // of this run
  double loss = 0;
  std::optional<double> val_loss;  // the latest
  double flops_per_token = 0;
};

struct Surroundings {
  Backend& backend;
  dist::Communicator& ranks;
  std::uint64_t seed = 0;
  std::string version, command_line;  // for /provenance
  OptionValues options;               // for /state
  std::function<bool()> stop_requested;
  std::function<void(const StepReport&)> report;
};

enum class Outcome { finished, stopped };

// The source of windows that the request means. Throws UsageError where --order global meets a pipe, and Error.
std::unique_ptr<WindowSource> open_windows(const Request& request, Index context, std::uint64_t seed);

// Every rank calls it, with the same request. Rank 0 alone reads the data, and writes log and checkpoints; a checkpoint
// to go on from is read by each. Trains and writes the checkpoint; a stream that ends early ends the training, with a
// warning. Goes on from `resumed` unless that is null. Outcome::stopped: a signal or --max-minutes ended it early, and
// it can be gone on with. Throws Error; then the last checkpoint is as it was.
Outcome run_training(const Request& request, const Surroundings& surroundings, const SavedTraining* resumed);

}  // namespace bam::train
