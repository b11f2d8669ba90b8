// What is asked of a training, as options say it; and the plan that follows from it, every number settled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace bam::train {

// Steps, or a share of all steps.
struct Warmup {
  double number = 3;
  bool is_percent = true;
  friend bool operator==(const Warmup&, const Warmup&) = default;
};

struct PriorTraining {
  bool shape = true;
  bool scale = true;
  bool loc = false;
  friend bool operator==(const PriorTraining&, const PriorTraining&) = default;
};

// Zero, an empty optional and an empty text mean: as the preset has it.
struct Request {
  std::vector<std::string> files{};  // none = standard input
  std::string preset = "tiny";
  Index layers = 0, dim = 0, heads = 0, kv_heads = 0, ffn = 0;
  PositionalEncoding pe = PositionalEncoding::bam;
  std::optional<Ssmax> ssmax{};
  std::optional<PriorScope> prior_scope{};
  std::string prior_init;  // authors, spread, or a file
  std::string shape_init, scale_init, loc_init;
  PriorTraining train_prior;
  std::optional<double> prior_lr{};
  std::optional<std::string> init_from{};

  Index context = 0;
  Index batch_tokens = 0;
  Index micro_batch = 0;         // windows
  std::optional<Order> order{};  // none: global, and stream where there is a pipe
  bool border_targets = true;
  Index steps = 0, tokens = 0, epochs = 0;  // one of them

  OptimizerKind optimizer = OptimizerKind::radam;
  double lr = 0;
  Warmup warmup;
  ScheduleKind schedule = ScheduleKind::cosine;
  double min_lr_fraction = 0.1;
  double weight_decay = 0.1;
  double clip = 1;
  Products products = Products::real;

  std::optional<std::string> val{};
  Index val_every = 0;   // 0 = at the end only
  Index save_every = 0;  // 0 = at the end only
  double max_minutes = 0;
  std::optional<std::string> log{};
  bool no_times = false;
  std::string output = "-";
};

// A preset's own numbers: those of tiny are the smallest that show the paper's result, the others are the authors'.
struct Recipe {
  Index context, batch_tokens, steps;
  double learning_rate;
  const char* prior_init;
  PriorScope prior_scope;
};
Recipe recipe_of(const std::string& preset);

// Throws UsageError for a name that is none.
const Preset& preset_named(const std::string& name);

struct Plan {
  ModelConfig config;
  Products products = Products::real;
  TrainerSettings trainer;
  Index batch_windows = 0;  // of a step
  Index steps = 0;
  std::string prior_init, shape_init, scale_init, loc_init;

  Index batch_tokens() const { return batch_windows * config.context; }
};

// The length of the windows, known before the data is opened. `stored` as below.
Index planned_context(const Request& request, const ModelConfig* stored);

// `stored` is the configuration of --init-from or --resume, whose sizes are kept. `windows_per_epoch` is 0 where it is
// not known.  Throws UsageError and Error: options that exclude each other, sizes that cannot be, epochs of a stream.
Plan make_plan(const Request& request, Index vocab, Index windows_per_epoch, const ModelConfig* stored);

// Throws Error when training would not fit into the memory that the backend has left.
void require_memory(const Plan& plan, const Backend& backend);

// Seeded first values of all parameters, the priors as the plan says.
void initialise_model(Model& model, const Plan& plan, std::uint64_t seed);

// Operations per second of large matrix products in the type of the products: what utilisation is a share of. Takes
// about a fifth of a second.
double measure_matrix_ceiling(Backend& backend, Products products);

}  // namespace bam::train
