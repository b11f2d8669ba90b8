// boxes: train model kernels io base
#include <cmath>

#include "base/rng.h"
#include "io/atomic_file.h"
#include "kernels/registry.h"
#include "support/catch.h"
#include "support/device_under_test.h"
#include "support/files.h"
#include "train/request.h"

using namespace bam;
using namespace bam::train;

namespace {

ModelConfig small_config() {
  return {.dim = 16, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 24, .vocab = 23, .context = 12};
}

Batch random_batch(Index windows, std::uint64_t seed) {
  Rng rng(seed);
  const Index context = small_config().context;
  std::vector<Token> ids(static_cast<std::size_t>(windows * (context + 1)));
  for (Token& id : ids) id = static_cast<Token>(rng.below(23));
  return make_batch(ids, context, {22, true});
}

struct Trained {
  std::vector<double> losses, norms;
  std::vector<float> parameters;
};

Trained run_steps(const std::string& device, int threads, Index micro_windows, const std::vector<Batch>& batches,
                  Products products = Products::real, ModelConfig config = small_config()) {
  const auto backend = make_backend(device, threads);
  Model model(*backend, config, products);
  Plan plan;
  plan.prior_init = "spread";
  initialise_model(model, plan, 3);
  TrainerSettings settings;
  settings.micro_windows = micro_windows;
  settings.schedule = {ScheduleKind::cosine, std::ssize(batches), 1, 0.1};
  settings.learning_rate = settings.prior_learning_rate = 5e-3;
  Trainer trainer(model, settings);
  Trained result;
  for (const Batch& batch : batches) {
    const StepResult step = trainer.step(batch);
    result.losses.push_back(step.loss);
    result.norms.push_back(step.gradient_norm);
  }
  const TensorView all = model.parameters().all();
  result.parameters.resize(static_cast<std::size_t>(all.count()));
  backend->copy_out({result.parameters.data(), DType::f32, all.shape}, all);
  return result;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i] - b[i])));
  return largest;
}

// Scores only the first `counts[w]` targets of window w.
Batch scored(Batch batch, const std::vector<Index>& counts) {
  for (Index w = 0; w < batch.windows; ++w) {
    for (Index t = counts[static_cast<std::size_t>(w)]; t < batch.tokens; ++t) {
      batch.targets[static_cast<std::size_t>(w * batch.tokens + t)] = kNotScored;
    }
  }
  return batch;
}

}  // namespace

TEST_CASE("training: micro-batches of 1 and 7 and of no scored targets weigh by targets, not by micro-batch") {
  for (const auto& counts : {std::vector<Index>{1, 7}, {0, 8}, {7, 0}, {12, 3}}) {
    const std::vector<Batch> batches = {scored(random_batch(2, 1), counts), scored(random_batch(2, 2), counts)};
    const Trained whole = run_steps("ref", 1, 2, batches);
    const Trained parts = run_steps("ref", 1, 1, batches);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      CHECK(parts.losses[i] == Approx(whole.losses[i]).epsilon(1e-12));
      CHECK(parts.norms[i] == Approx(whole.norms[i]).epsilon(1e-10));
    }
    CHECK(largest_difference(whole.parameters, parts.parameters) < 1e-6);
  }
}

TEST_CASE("training: a step without a scored target is finite") {
  const Trained trained = run_steps(test::device_under_test(), 1, 1, {scored(random_batch(2, 1), {0, 0})});
  CHECK(trained.losses[0] == 0.0);
  CHECK(trained.norms[0] == 0.0);
}

TEST_CASE("training: what changes from step to step follows ref") {
  // Other numbers of targets, and so other weights; other rates; a shorter batch, and one like the first again.
  std::vector<Batch> batches;
  for (const auto& counts :
       {std::vector<Index>{12, 12, 12, 12}, {3, 0, 12, 1}, {12, 2, 5, 7}, {1, 1, 1}, {9, 12, 12, 0}, {4, 6, 1}}) {
    batches.push_back(scored(random_batch(std::ssize(counts), std::size(batches) + 1), counts));
  }
  const Trained truth = run_steps("ref", 1, 2, batches);
  const Trained found = run_steps(test::device_under_test(), 1, 2, batches);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    INFO("step " << i);
    CHECK(found.losses[i] == Approx(truth.losses[i]).epsilon(2e-5));
    CHECK(found.norms[i] == Approx(truth.norms[i]).epsilon(1e-4));
  }
  CHECK(largest_difference(found.parameters, truth.parameters) < 1e-4);
}

TEST_CASE("training: equal bits from equal threads, equal to rounding from other threads and cuts") {
  const std::vector<Batch> batches = {random_batch(7, 1), random_batch(7, 2), random_batch(7, 3)};
  const Trained one = run_steps(test::device_under_test(), 1, 7, batches);
  const Trained again = run_steps(test::device_under_test(), 1, 7, batches);
  CHECK(one.losses == again.losses);
  CHECK(one.parameters == again.parameters);
  const Trained two = run_steps(test::device_under_test(), 2, 7, batches);
  CHECK(two.parameters == run_steps(test::device_under_test(), 2, 7, batches).parameters);
  for (const Trained& other :
       {two, run_steps(test::device_under_test(), 1, 3, batches), run_steps("ref", 1, 7, batches)}) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      CHECK(other.losses[i] == Approx(one.losses[i]).epsilon(1e-5));
      CHECK(other.norms[i] == Approx(one.norms[i]).epsilon(1e-4));
    }
    CHECK(largest_difference(one.parameters, other.parameters) < 1e-4);
  }
}

TEST_CASE("training: bf16 products follow f32") {
  const std::vector<Batch> batches = {random_batch(4, 1), random_batch(4, 2)};
  const Trained exact = run_steps(test::device_under_test(), 1, 4, batches);
  const Trained half = run_steps(test::device_under_test(), 1, 4, batches, Products::bf16);
  for (std::size_t i = 0; i < batches.size(); ++i) CHECK(half.losses[i] == Approx(exact.losses[i]).epsilon(5e-3));
}

TEST_CASE("training: every choice of frozen prior parameters leaves them as they were and trains the rest") {
  for (int choice = 0; choice < 8; ++choice) {
    ModelConfig config = small_config();
    config.train_shape = (choice & 1) != 0;
    config.train_scale = (choice & 2) != 0;
    config.train_loc = (choice & 4) != 0;
    const Trained before = run_steps("ref", 1, 2, {}, Products::real, config);
    const Trained after = run_steps("ref", 1, 2, {random_batch(2, 1), random_batch(2, 2)}, Products::real, config);
    for (const ParameterInfo& info : list_parameters(config)) {
      const auto begin = static_cast<std::size_t>(info.offset);
      const auto end = begin + static_cast<std::size_t>(info.shape.count());
      const bool same = std::equal(before.parameters.begin() + static_cast<std::ptrdiff_t>(begin),
                                   before.parameters.begin() + static_cast<std::ptrdiff_t>(end),
                                   after.parameters.begin() + static_cast<std::ptrdiff_t>(begin));
      INFO(info.name);
      CHECK(same != info.trainable);
    }
  }
}

TEST_CASE("training: the loss falls") {
  const std::vector<Batch> batches(40, random_batch(4, 1));
  const Trained trained = run_steps(test::device_under_test(), 1, 4, batches);
  CHECK(trained.losses.back() < 0.8 * trained.losses.front());
}

TEST_CASE("training: the validation loss does not depend on how windows are put together") {
  const test::ScratchFolder folder;
  {
    io::OutputFile file(folder / "val");
    io::ShardHeader header;
    header.vocab_size = 23;
    header.bos_id = 22;
    header.tokenizer_name = header.tokenizer_kind = "bytes";
    io::ShardWriter writer(file, header, {});
    Rng rng(9);
    std::vector<Token> ids(10 * 12 - 4);
    for (Token& id : ids) id = static_cast<Token>(rng.below(23));
    writer.append(ids);
    writer.finish();
    file.commit();
  }
  TokenFiles tokens({folder / "val"});
  const ValidationWindows windows(tokens, small_config().context, {22, true});
  const auto backend = make_backend(test::device_under_test(), 1);
  Model model(*backend, small_config(), Products::real);
  initialise(model.parameters(), small_config(), *backend, 1);
  std::vector<LossSum> sums;
  for (const Index micro : {1, 3, 4, 10, 50}) {
    TrainerSettings settings;
    settings.micro_windows = micro;
    sums.push_back(Trainer(model, settings).evaluate(windows));
    CHECK(sums.back().targets == 10 * 12 - 5);
    CHECK(sums.back().nll_nats == Approx(sums.front().nll_nats).epsilon(1e-6));
  }
}
