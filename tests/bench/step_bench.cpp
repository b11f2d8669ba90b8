// Whole training steps, and reading of long texts with and without skipping, against a product of 2048 x 2048 x 2048 of
// the same run and dtype. A step counts 6 FLOPs per matrix parameter (the token embedding is none) and token, and
// 12 L T D / 2 per token for causal attention; reading counts a third of both, although it computes
// the last layer for the scored position alone and leaves out what it may. BAM_BENCH_LENGTH is the longest text
// (default 8192; each length is four times the one before).
#include "bench/bench.h"
#include "model/kv_cache.h"
#include "train/request.h"
#include "train/trainer.h"

namespace bam::bench {
namespace {

struct Machine {
  Backend& backend;
  const Table& table;
  Products products;
  double ceiling;
};

struct Size {
  const char* preset;
  Index context, windows, vocab;
};

ModelConfig config_of(const Size& size) {
  const Preset& preset = train::preset_named(size.preset);
  ModelConfig config;
  config.dim = preset.dim;
  config.layers = preset.layers;
  config.heads = config.kv_heads = preset.heads;
  config.ffn = preset.ffn;
  config.vocab = size.vocab;
  config.context = size.context;
  config.ssmax = Ssmax::full;
  return config;
}

std::vector<std::int32_t> random_ids(Index count, Index vocab) {
  Rng rng(3);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (auto& id : ids) id = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(vocab)));
  return ids;
}

void step(const Machine& m, const Size& size) {
  const ModelConfig config = config_of(size);
  Model model(m.backend, config, m.products);
  initialise(model.parameters(), config, m.backend, 1);
  model.refresh_products();
  train::TrainerSettings settings;
  settings.micro_windows = train::default_micro_windows(size.context, size.windows);
  train::Trainer trainer(model, settings);
  Batch batch{size.windows, size.context, {}, {}, {}};
  batch.ids = random_ids(size.windows * size.context, config.vocab);
  batch.targets = batch.ids;
  batch.first_key.assign(batch.ids.size(), 0);
  const double seconds = best_seconds(m.backend, [&] { trainer.step(batch); });
  const auto tokens = static_cast<double>(size.windows * size.context);
  char rate[64];
  std::snprintf(rate, sizeof rate, " (%.0f tokens/s)", tokens / seconds);
  m.table.row("step " + std::string(size.preset) + " T " + std::to_string(size.context) + " " +
                  std::string(name_in(products_names(), m.products)) + rate,
              seconds, tokens * training_flops_per_token(config, size.context), "GFLOP/s", m.ceiling);
}

// Heads as a trained model has them: six local ones of eight, two that retrieve.
void set_priors(Model& model) {
  const std::vector<float> shape = {1, 1, 1, 1, 1, 1, -0.4F, -0.4F};
  const std::vector<float> scale = {0, 0, 0, -0.7F, -2, -3.5F, 0, 0};
  for (const std::string name : {"prior_shape", "prior_scale"}) {
    const TensorView view = model.parameters().named(name);
    const std::vector<float>& values = name == "prior_shape" ? shape : scale;
    model.backend().copy_in(view, {values.data(), DType::f32, view.shape});
  }
}

void prefill(const Machine& m, Index length, double eps) {
  ModelConfig config = config_of({"tiny", 128, 1, 1024});
  config.prior_scope = PriorScope::global;
  Model model(m.backend, config, m.products);
  initialise(model.parameters(), config, m.backend, 1);
  set_priors(model);
  model.refresh_products();
  model.set_reading({.skip_eps = eps});
  constexpr Index kChunk = 1024;
  Reader reader(model, 1, length, kChunk);
  const std::vector<std::int32_t> ids = random_ids(length, config.vocab);
  const std::vector<std::int32_t> first_key(static_cast<std::size_t>(kChunk), 0);
  std::vector<std::int32_t> targets(static_cast<std::size_t>(kChunk), kNotScored);
  const double start = now_s(m.backend);
  for (Index at = 0; at < length; at += kChunk) {
    targets.back() = at + kChunk == length ? 0 : kNotScored;
    reader.read(std::span(ids).subspan(static_cast<std::size_t>(at), kChunk), first_key, targets);
  }
  const double seconds = now_s(m.backend) - start;
  const double share = reader.take_counts().share();
  m.table.row("prefill tiny " + std::to_string(length) + (eps > 0 ? " skipping " : " dense ") +
                  std::string(name_in(products_names(), m.products)) + " skipped " + std::to_string(share).substr(0, 4),
              seconds, static_cast<double>(length) * training_flops_per_token(config, length) / 3, "GFLOP/s",
              m.ceiling);
}

void run_all() {
  const char* const longest = std::getenv("BAM_BENCH_LENGTH");
  const Index last = longest != nullptr ? std::atoll(longest) : 8192;
  const auto backend = backend_from_environment();
  const Table table;
  for (const Products products : {Products::real, Products::bf16}) {
    const DType dtype = products == Products::bf16 ? DType::bf16 : DType::f32;
    const Machine machine{*backend, table, products, ceiling_rate(table, *backend, dtype)};
    step(machine, {"tiny", 128, 16, 1024});
    step(machine, {"l12", 512, 4, 32768});
    for (Index length = 2048; length <= last; length *= 4) {
      prefill(machine, length, 0);
      prefill(machine, length, 1e-6);
    }
  }
}

}  // namespace
}  // namespace bam::bench

int main() {
  bam::bench::run_all();
}
