#include "train/request.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/rng.h"
#include "model/prior_checkpoint.h"
#include "prior/init.h"
#include "prior/table.h"

namespace bam::train {
namespace {

Index ceil_div(Index a, Index b) {
  return a / b + (a % b != 0);
}

// What validate() would say of a file, said of the options.
void refuse_sizes(const ModelConfig& config) {
  const auto number = [](Index size) { return std::to_string(size); };
  if (config.dim % config.heads != 0) {
    throw UsageError("--dim, --heads: " + number(config.dim) + " channels do not divide into " + number(config.heads) +
                     " heads, expected a multiple of the heads");
  }
  if (config.heads % config.kv_heads != 0) {
    throw UsageError("--heads, --kv-heads: " + number(config.heads) + " heads do not divide into " +
                     number(config.kv_heads) + " groups, expected a multiple of the heads of keys and values");
  }
  if (config.pe == PositionalEncoding::rope && config.head_dim() % 2 != 0) {
    throw UsageError("--pe, --dim, --heads: rope rotates pairs of channels, and " + number(config.dim) +
                     " channels in " + number(config.heads) + " heads are " + number(config.head_dim()) +
                     " in each, expected an even number");
  }
}

ModelConfig configure(const Request& request, const Recipe& recipe, Index vocab, const ModelConfig* stored) {
  ModelConfig config;
  if (stored != nullptr) {
    config = *stored;
  } else {
    const Preset& preset = preset_named(request.preset);
    const auto pick = [](Index asked, Index otherwise) { return asked > 0 ? asked : otherwise; };
    config.dim = pick(request.dim, preset.dim);
    config.layers = pick(request.layers, preset.layers);
    config.heads = pick(request.heads, preset.heads);
    config.kv_heads = pick(request.kv_heads, config.heads);
    config.ffn = pick(request.ffn, request.dim > 0 ? 2 * request.dim : preset.ffn);
    config.vocab = vocab;
    config.pe = request.pe;
    config.ssmax = request.ssmax.value_or(request.pe == PositionalEncoding::bam ? Ssmax::full : Ssmax::off);
    config.prior_scope = request.prior_scope.value_or(recipe.prior_scope);
    refuse_sizes(config);
  }
  config.train_shape = request.train_prior.shape;
  config.train_scale = request.train_prior.scale;
  config.train_loc = request.train_prior.loc;
  config.context = planned_context(request, stored);
  validate(config);
  return config;
}

Index count_steps(const Request& request, const Plan& plan, const Recipe& recipe, Index windows_per_epoch) {
  if ((request.steps > 0) + (request.tokens > 0) + (request.epochs > 0) > 1) {
    throw UsageError("--steps, --tokens, --epochs: expected one of them");
  }
  if (request.steps > 0) return request.steps;
  if (request.tokens > 0) return ceil_div(request.tokens, plan.batch_tokens());
  if (request.epochs == 0) return recipe.steps;
  if (windows_per_epoch == 0) throw UsageError("--epochs: a stream is read once, expected --steps or --tokens");
  Index windows = 0;
  if (__builtin_mul_overflow(request.epochs, windows_per_epoch, &windows)) throw UsageError("--epochs: out of range");
  return ceil_div(windows, plan.batch_windows);
}

Index warmup_steps(const Warmup& warmup, Index steps) {
  if (!warmup.is_percent) return static_cast<Index>(warmup.number);
  return static_cast<Index>(std::ceil(warmup.number / 100 * static_cast<double>(steps)));
}

std::vector<std::vector<HeadPrior>> first_priors(const Plan& plan, Index sets) {
  const Index heads = plan.config.heads;
  const auto count = static_cast<std::size_t>(sets);
  if (plan.prior_init == "authors") return {count, authors_prior(heads)};
  if (plan.prior_init == "spread") return {count, spread_prior(heads)};
  return read_prior_table(plan.prior_init, plan.config.layers, heads, plan.config.prior_scope == PriorScope::global);
}

}  // namespace

Recipe recipe_of(const std::string& preset) {
  if (preset == "tiny") return {128, 1024, 3000, 6e-3, "spread", PriorScope::global};
  return {512, 589824, 16954, 1e-3, "authors", PriorScope::layer};
}

const Preset& preset_named(const std::string& name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
  }
  throw UsageError("--preset: no preset is called '" + name + "'");
}

Index planned_context(const Request& request, const ModelConfig* stored) {
  if (request.context > 0) return request.context;
  return stored != nullptr && stored->context > 0 ? stored->context : recipe_of(request.preset).context;
}

Plan make_plan(const Request& request, Index vocab, Index windows_per_epoch, const ModelConfig* stored) {
  const Recipe recipe = recipe_of(request.preset);
  Plan plan;
  plan.config = configure(request, recipe, vocab, stored);
  plan.products = request.products;
  const Index context = plan.config.context;
  const Index asked_tokens = request.batch_tokens > 0 ? request.batch_tokens : std::max(recipe.batch_tokens, context);
  if (asked_tokens < context) {
    throw UsageError("--batch-tokens: " + std::to_string(asked_tokens) + " do not hold a window, expected at least " +
                     std::to_string(context) + ", the context");
  }
  plan.batch_windows = asked_tokens / context;
  if (asked_tokens % context != 0) {
    log::info("a step has " + std::to_string(plan.batch_windows) + " windows, " + std::to_string(plan.batch_tokens()) +
              " tokens");
  }
  if (windows_per_epoch > 0 && plan.batch_windows > windows_per_epoch) {
    throw UsageError("--batch-tokens: a step of " + std::to_string(plan.batch_tokens()) + " tokens, and the data has " +
                     std::to_string(windows_per_epoch * context) + " in whole windows, expected at most that");
  }
  plan.steps = count_steps(request, plan, recipe, windows_per_epoch);
  Index tokens = 0;
  if (__builtin_mul_overflow(plan.steps, plan.batch_tokens(), &tokens)) {
    throw UsageError("--steps: " + std::to_string(plan.steps) + " steps of " + std::to_string(plan.batch_tokens()) +
                     " tokens are out of range");
  }

  TrainerSettings& trainer = plan.trainer;
  trainer.optimizer.kind = request.optimizer;
  trainer.optimizer.weight_decay = request.weight_decay;
  trainer.optimizer.clip = request.clip;
  trainer.shards_optimizer = request.shard_optimizer;
  trainer.schedule = {request.schedule, plan.steps, warmup_steps(request.warmup, plan.steps), request.min_lr_fraction};
  if (trainer.schedule.warmup_steps > plan.steps) {
    log::warning("--warmup: " + std::to_string(trainer.schedule.warmup_steps) + " steps, and the training ends after " +
                 std::to_string(plan.steps) + ", before the peak of the learning rate");
  }
  trainer.learning_rate = request.lr > 0 ? request.lr : recipe.learning_rate;
  trainer.prior_learning_rate = request.prior_lr.value_or(trainer.learning_rate);
  trainer.micro_windows = request.micro_batch > 0 ? std::min(request.micro_batch, plan.batch_windows)
                                                  : default_micro_windows(context, plan.batch_windows);
  plan.prior_init = request.prior_init.empty() ? recipe.prior_init : request.prior_init;
  plan.shape_init = request.shape_init;
  plan.scale_init = request.scale_init;
  plan.loc_init = request.loc_init;
  return plan;
}

namespace {

// Numbers, not zeros, which some machines multiply faster.
Tensor random_matrix(Backend& backend, DType type, Index size) {
  Tensor matrix(backend, type, {size, size});
  std::vector<float> row(static_cast<std::size_t>(size));
  Rng rng(1);
  for (float& each : row) each = static_cast<float>(rng.normal());
  for (Index i = 0; i < size; ++i) backend.copy_in(rows(matrix.view(), i, 1), {row.data(), DType::f32, {1, size}});
  return matrix;
}

}  // namespace

void require_memory(const Plan& plan, const Backend& backend, int processes, int ranks) {
  const double batch_bytes = 16.0 * static_cast<double>(plan.batch_windows) * static_cast<double>(plan.config.context);
  const double moments = 2.0 * sizeof(float) * static_cast<double>(count_parameters(plan.config));
  const double kept_elsewhere = plan.trainer.shards_optimizer ? moments * (1 - 1.0 / ranks) : 0;
  const double each = training_bytes(plan.config, plan.products, plan.trainer.micro_windows, plan.config.context);
  const double needed = batch_bytes + processes * (each - kept_elsewhere);
  const double available = backend.available_bytes();
  if (needed <= available) return;
  throw Error("training needs " + human_bytes(needed) + " of memory, and " + human_bytes(available) +
              " are available, expected a smaller model, --context or --micro-batch");
}

void initialise_model(Model& model, const Plan& plan, std::uint64_t seed) {
  const ModelConfig& config = model.config();
  initialise(model.parameters(), config, model.backend(), seed);
  if (config.has_prior_parameters()) {
    const bool global = config.prior_scope == PriorScope::global;
    auto priors = first_priors(plan, global ? 1 : config.layers);
    apply_formulas({plan.shape_init, plan.scale_init, plan.loc_init}, seed, priors);
    set_priors(model, priors);
  }
  model.refresh_products();
}

double measure_matrix_ceiling(Backend& backend, Products products) {
  constexpr Index kSmallest = 1024;
  constexpr Index kLargest = 8192;
  constexpr double kLongEnough = 1e-3;  // seconds, beside which starting a product costs nothing
  const DType type = products == Products::bf16 ? DType::bf16 : backend.real();
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds_since = [](std::chrono::steady_clock::time_point t) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
  };
  double best = 0;
  for (Index size = kSmallest; size <= kLargest; size *= 2) {
    const Tensor a = random_matrix(backend, type, size);
    const Tensor b = random_matrix(backend, type, size);
    const Tensor c(backend, backend.real(), {size, size});
    const double operations = 2.0 * std::pow(static_cast<double>(size), 3);
    double shortest = HUGE_VAL;
    do {
      const auto start = std::chrono::steady_clock::now();
      backend.matmul({.a = a, .b = b, .c = c, .transpose_b = true});
      backend.synchronize();
      shortest = std::min(shortest, seconds_since(start));
      best = std::max(best, operations / shortest);
    } while (shortest >= kLongEnough && seconds_since(begin) < 0.2);
    if (shortest >= kLongEnough) break;
  }
  return best;
}

}  // namespace bam::train
