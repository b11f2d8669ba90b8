// A training in a checkpoint, bam-checkpoint(5): the model, and all it takes to go on to the bit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint_model.h"
#include "model/parameter_values.h"
#include "train/optimizer.h"
#include "train/windows.h"

namespace bam::train {

// The loss curve. Vectors of equal length: one entry per step, and one per validation.
struct History {
  std::vector<std::int64_t> tokens;  // seen after the step; steps count from 1 without a gap
  std::vector<double> loss, learning_rate, gradient_norm;
  std::vector<std::int64_t> val_step, val_targets;
  std::vector<double> val_loss;
};

using OptionValues = std::vector<std::pair<std::string, std::string>>;

// An option that says how long a training is, which may change when it goes on.
inline bool is_length(std::string_view option) {
  return option == "steps" || option == "tokens" || option == "epochs";
}

struct TrainingState {
  Index step = 0;         // steps made
  Index steps = 0;        // steps wanted
  Index tokens_seen = 0;  // windows x context
  Index windows = 0;      // handed out by the window source
  Order order = Order::global;
  std::string fingerprint;  // of the data
  OptionValues options;     // those that decide what the parameters become
  History history;

  bool finished() const { return step >= steps; }
};

struct Provenance {
  std::string command_line, version, device;
  std::vector<std::string> shards, digests;
  std::string started, written;  // UTC, ISO 8601
  double wall_s = 0;             // of this run
};

struct TrainingCheckpoint {
  ModelConfig config;
  std::vector<ParameterInfo> infos;
  ParameterValues parameters, m, v;
  io::ShardHeader tokenizer;
  std::vector<io::TokenizerFile> tokenizer_files;
  TrainingState state;
  std::optional<Provenance> provenance;  // left out with --no-times
};

// Whole or not at all. Throws Error (no space, ...) or BrokenPipe.
void save_checkpoint(const std::string& path, const TrainingCheckpoint& checkpoint);

// A checkpoint to begin or go on from.
class SavedTraining {
 public:
  // Throws Error: missing, damaged, not a checkpoint of bam-train.
  explicit SavedTraining(const std::string& path);

  const std::string& name() const { return reader_.name(); }
  const std::string& digest() const { return reader_.digest(); }
  const ModelConfig& config() const { return config_; }
  const StoredTokenizer& tokenizer() const { return tokenizer_; }

  // Throws Error "NAME: ..." when the shards are of another tokenizer or vocabulary.
  void require_tokenizer(const io::ShardHeader& shards, const std::string& shards_name) const;

  TrainingState state() const;  // Error for a checkpoint without one
  void load_parameters(Model& model) const;
  void load_optimizer(Optimizer& optimizer, Backend& backend) const;

 private:
  io::CheckpointReader reader_;
  ModelConfig config_;
  StoredTokenizer tokenizer_;
};

}  // namespace bam::train
