// boxes: train eval model prior text io kernels base
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "eval/attention_fit.h"
#include "eval/attention_probe.h"
#include "io/atomic_file.h"
#include "io/shard.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"
#include "train/tune.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

void silence_content(TinyModel& tiny) {
  for (Index layer = 0; layer < tiny.model().config().layers; ++layer) {
    const std::string name = "layers/" + std::to_string(layer) + "/wq";
    tiny.set(name, std::vector<float>(tiny.get(name).size(), 0.0F));
  }
}

// Text in which a byte depends on one some way back, so that priors matter.
std::string echoing_text(std::size_t bytes) {
  Rng rng(4);
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool echoes = i >= 3 && rng.below(8) != 0;
    text += echoes ? text[i - 3] : static_cast<char>('a' + rng.below(6));
  }
  return text;
}

void write_shard(const std::string& path, const TinyModel& tiny, const std::string& text) {
  io::OutputFile file(path);
  io::ShardWriter writer(file, tiny.loaded.tokenizer_header, tiny.loaded.tokenizer->files());
  std::vector<io::Token> ids = {tiny.loaded.tokenizer_header.bos_id};
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  writer.append(ids);
  writer.finish();
  file.commit();
}

AttentionMeasure measured(const TinyModel& tiny, const std::string& path, Index context, FitSsmax ssmax = {}) {
  TokenSource source(tiny.loaded, {{path}, {}, {}, 0});
  return measure_attention(
      tiny.loaded, source,
      {.context = context, .ssmax = ssmax, .memory_bytes = std::numeric_limits<double>::infinity()});
}

}  // namespace

TEST_CASE("attention probe: posterior = content x position / Z, rows add up, and lse of the model's own op agrees") {
  for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
    ModelConfig config = tiny_config(PositionalEncoding::bam);
    config.kv_heads = 2;
    config.ssmax = ssmax;
    TinyModel tiny = random_model(config, 1, Products::real, "ref");
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(i % 17 == 0 ? 256 : 97 + i % 5);
    AttentionProbe whole(tiny.loaded, 64, 64);
    AttentionProbe parts(tiny.loaded, 64, 7);
    const std::vector<Index> queries = {0, 3, 16, 17, 30, 39};
    std::vector<std::vector<double>> seen;
    whole.read(ids, queries, [&](const AttentionRow& row) {
      double sum = 0;
      for (std::size_t t = 0; t < row.posterior.size(); ++t) {
        sum += row.posterior[t];
        CHECK(row.posterior[t] ==
              Approx(row.content[t] * row.position[t] / std::exp(row.ln_z)).epsilon(1e-9).margin(1e-12));
      }
      CHECK(sum == Approx(1));
      CHECK(row.visible() == (row.query < 17 ? row.query : row.query < 34 ? row.query - 17 : row.query - 34) + 1);
      seen.emplace_back(row.posterior.begin(), row.posterior.end());
    });
    REQUIRE(seen.size() == queries.size() * 2 * 4);
    // In chunks the same rows come in another order.
    double total = 0;
    double expected = 0;
    for (const auto& row : seen) expected += row[0] * row[0];
    parts.read(ids, queries, [&](const AttentionRow& row) { total += row.posterior[0] * row.posterior[0]; });
    CHECK(total == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE(
    "prior fit: heads of an ALiBi model without content are ALiBi, those of NoPE uniform, those of BAM their own") {
  ScratchFolder folder;
  ModelConfig config = tiny_config(PositionalEncoding::alibi);
  config.ssmax = Ssmax::off;
  TinyModel alibi = random_model(config);
  silence_content(alibi);
  write_shard(folder / "a.tok.zst", alibi, echoing_text(6000));
  const auto slopes = alibi_slopes(4);
  for (const auto& layer : measured(alibi, folder / "a.tok.zst", 256).heads) {
    for (std::size_t h = 0; h < layer.size(); ++h) {
      const HeadFit fit = fit_head(layer[h].all(), {}, {});
      CHECK(fit.families[fit.best].family == "laplace");
      CHECK(std::exp(fit.families[fit.best].point.scale) == Approx(slopes[h]).epsilon(1e-3));
      CHECK(fit.families[3].point.shape == Approx(1).epsilon(1e-3));
      CHECK(fit.families[fit.best].ks < 1e-4);
      CHECK(layer[h].means->coupling == Approx(0).margin(1e-9));
      CHECK(layer[h].means->entropy_position == Approx(layer[h].means->entropy_posterior));
    }
  }
  config.pe = PositionalEncoding::nope;
  TinyModel nope = random_model(config);
  silence_content(nope);
  for (const auto& layer : measured(nope, folder / "a.tok.zst", 256).heads) {
    for (const HeadMeasure& head : layer) CHECK(fit_head(head.all(), {}, {}).verdict == "uniform");
  }
  config.pe = PositionalEncoding::bam;
  config.ssmax = Ssmax::full;
  TinyModel bam = random_model(config);
  silence_content(bam);
  const std::vector<HeadPrior> priors = {{0.5, -1, 0}, {1.7, -4, 0}, {-0.4, 1, 0}, {1, -1, -0.4}};
  set_priors(bam.model(), {priors, priors});
  bam.set("layers/0/ssmax_scale", {0.7F, 1.2F, 1.0F, 0.5F});
  for (const auto& layer : measured(bam, folder / "a.tok.zst", 256).heads) {
    for (std::size_t h = 0; h < 3; ++h) {
      const HeadFit fit = fit_head(layer[h].all(), {}, {});
      CHECK(fit.families[fit.best].point.shape == Approx(priors[h].shape).epsilon(5e-3));
      CHECK(fit.families[fit.best].point.scale == Approx(priors[h].scale).epsilon(5e-3));
    }
    const HeadFit moved = fit_head(layer[3].all(), {}, {.families = {"laplace"}, .free_mu = true});
    CHECK(moved.families[0].point.mu == Approx(2 * std::sinh(-0.4)).epsilon(2e-2));
  }
}

TEST_CASE("prior fit: NaN weights of a model are told") {
  ScratchFolder folder;
  TinyModel tiny = random_model();
  write_shard(folder / "a.tok.zst", tiny, echoing_text(300));
  std::vector<float> wq = tiny.get("layers/1/wq");
  wq[0] = std::numeric_limits<float>::quiet_NaN();
  tiny.set("layers/1/wq", wq);
  const AttentionMeasure measure = measured(tiny, folder / "a.tok.zst", 64);
  CHECK(fit_head(measure.heads[0][0].all(), {}, {}).verdict != "not-finite");
  CHECK(fit_head(measure.heads[1][0].all(), {}, {}).verdict == "not-finite");
}

TEST_CASE("tuning: gradients of priors alone are those of a full backward pass") {
  for (const PriorScope scope : {PriorScope::layer, PriorScope::global}) {
    ModelConfig config = tiny_config();
    config.prior_scope = scope;
    config.train_loc = true;
    TinyModel tiny = random_model(config, 1, Products::real, "ref");
    const auto is_prior = [](const ParameterInfo& info) { return info.role >= ParameterRole::prior_shape; };
    Rng rng(8);
    std::vector<io::Token> ids(3 * 17);
    for (io::Token& id : ids) id = static_cast<io::Token>(rng.below(257));
    const Batch batch = train::make_batch(ids, 16, {256, true});
    Backend& backend = *tiny.backend;
    const ParameterSet all(backend, config, backend.real());
    const ParameterSet some(backend, config, backend.real(), is_prior);
    TrainingPass pass(tiny.model(), 3, 16);
    pass.forward_backward(batch, 0.1, all);
    pass.forward_backward(batch, 0.1, some);
    Index compared = 0;
    for (std::size_t i = 0; i < all.infos().size(); ++i) {
      CHECK(some[i].empty() == !is_prior(all.infos()[i]));
      if (some[i].empty()) continue;
      std::vector<double> a(static_cast<std::size_t>(all[i].count())), b(a.size());
      backend.copy_out({a.data(), DType::f64, all[i].shape}, all[i]);
      backend.copy_out({b.data(), DType::f64, some[i].shape}, some[i]);
      CHECK(a == b);
      CHECK(std::any_of(a.begin(), a.end(), [](double x) { return x != 0; }));
      ++compared;
    }
    CHECK(compared == (scope == PriorScope::global ? 5 : 8));
  }
}

TEST_CASE("tuning: perturbed priors are mostly mended, and nothing else has changed") {
  ScratchFolder folder;
  ModelConfig config = tiny_config();
  config.context = 32;
  TinyModel tiny = random_model(config);
  write_shard(folder / "a.tok.zst", tiny, echoing_text(12000));
  {
    train::TokenFiles files({folder / "a.tok.zst"});
    std::vector<io::Token> ids(static_cast<std::size_t>(33 * 32));
    train::TrainerSettings settings;
    settings.schedule = {train::ScheduleKind::cosine, 120, 5, 0.1};
    settings.learning_rate = 1e-2;
    settings.prior_learning_rate = 2e-2;
    settings.micro_windows = 32;
    train::Trainer trainer(tiny.model(), settings);
    for (Index step = 0; step < 120; ++step) {
      files.read(step % 10 * 1000, ids);
      trainer.step(train::make_batch(ids, 32, {256, true}));
    }
  }
  write_model(folder / "trained.h5", tiny);
  PriorParameters good = get_priors(tiny.model());
  std::vector<std::vector<HeadPrior>> bad = good.heads;
  for (auto& layer : bad) {
    for (HeadPrior& prior : layer) prior = {prior.shape * 0.5, prior.scale - 2, prior.loc};
  }
  set_priors(tiny.model(), bad);
  write_model(folder / "perturbed.h5", tiny);

  const auto tune = [&](const std::string& path, Index steps) {
    const io::CheckpointReader reader(path);
    train::TuneRequest request;
    request.files = {folder / "a.tok.zst"};
    request.context = 32;
    request.batch_windows = 32;
    request.steps = steps;
    request.learning_rate = 0.05;
    const train::TuneResult result = train::tune_priors(reader, *tiny.backend, request, 1, {});
    io::CheckpointWriter writer(folder / "tuned.h5");
    write_with_priors(writer.file(), reader, result.config, result.priors);
    writer.commit();
    return result;
  };
  const double before = tune(folder / "trained.h5", 1).loss_model;
  const train::TuneResult result = tune(folder / "perturbed.h5", 80);
  CAPTURE(before, result.loss_start, result.loss_best);
  CHECK(result.loss_start == Approx(result.loss_model).epsilon(1e-6));
  REQUIRE(result.loss_start > before + 0.05);
  CHECK(result.loss_best < result.loss_start - 0.6 * (result.loss_start - before));

  const io::CheckpointReader perturbed(folder / "perturbed.h5");
  const io::CheckpointReader tuned(folder / "tuned.h5");
  CHECK(perturbed.file().group("params").dataset_paths() == tuned.file().group("params").dataset_paths());
  CHECK(read_config(perturbed.file()) == read_config(tuned.file()));
  for (const ParameterInfo& info : list_parameters(config)) {
    std::vector<Index> dims;
    for (int axis = 0; axis < info.shape.rank(); ++axis) dims.push_back(info.shape[axis]);
    const auto a = perturbed.file().group("params").read<float>(info.name, dims);
    const auto b = tuned.file().group("params").read<float>(info.name, dims);
    CAPTURE(info.name);
    const bool learns = info.role >= ParameterRole::prior_shape && info.role != ParameterRole::prior_loc;
    CHECK((a == b) == !learns);
  }
}

TEST_CASE("tuning: an ALiBi model begins exactly where it was, any encoding can begin") {
  ScratchFolder folder;
  for (const auto& [pe, epsilon] : std::vector<std::pair<PositionalEncoding, double>>{
           {PositionalEncoding::alibi, 1e-5}, {PositionalEncoding::nope, 2e-3}, {PositionalEncoding::rope, 1.0}}) {
    ModelConfig config = tiny_config(pe);
    config.ssmax = Ssmax::off;
    TinyModel tiny = random_model(config);
    write_shard(folder / "a.tok.zst", tiny, echoing_text(3000));
    write_model(folder / "a.h5", tiny);
    const io::CheckpointReader reader(folder / "a.h5");
    train::TuneRequest request;
    request.files = {folder / "a.tok.zst"};
    request.context = 16;
    request.batch_windows = 16;
    request.steps = 3;
    const train::TuneResult result = train::tune_priors(reader, *tiny.backend, request, 1, {});
    CHECK(result.loss_start == Approx(result.loss_model).epsilon(epsilon));
    CHECK(result.loss_best <= result.loss_start);
    CHECK(result.config.pe == PositionalEncoding::bam);
    CHECK(result.parameters == 2 * 2 * 4);
  }
}
