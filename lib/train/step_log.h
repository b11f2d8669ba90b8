// StepLog - the loss curve as JSON lines, written as it grows.
#pragma once

#include <optional>
#include <string>

#include "base/types.h"

namespace bam::train {

struct StepLine {
  Index step = 0;
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  Index tokens = 0;
  std::optional<double> tokens_per_s;
  std::optional<double> val_loss;
  std::optional<double> seconds;  // since the run began or was gone on with
  std::uint64_t seed = 0;
  std::string device, version;
};

class StepLog {
 public:
  // A file is kept up to the line of step `kept_steps`, since a killed run has logged steps that are made again; what
  // is behind it goes. Throws Error.
  StepLog(const std::string& path, Index kept_steps);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  // One write. A reader that went away ends the log, not the training; Error when the disk is full.
  void write(const StepLine& line);

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace bam::train
