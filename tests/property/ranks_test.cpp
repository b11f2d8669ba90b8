// boxes: train model kernels dist io base
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "kernels/registry.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/thread_ranks.h"
#include "train/request.h"

using namespace bam;
using namespace bam::train;
using namespace bam::test;

namespace {

ModelConfig small_config() {
  return {.dim = 16, .layers = 3, .heads = 4, .kv_heads = 2, .ffn = 24, .vocab = 23, .context = 12};
}

Batch random_batch(Index windows, std::uint64_t seed) {
  Rng rng(seed);
  const Index context = small_config().context;
  std::vector<Token> ids(static_cast<std::size_t>(windows * (context + 1)));
  for (Token& id : ids) id = static_cast<Token>(rng.below(23));
  return make_batch(ids, context, {22, false});
}

struct Trained {
  std::vector<double> losses, norms;
  std::vector<float> parameters, m, v;  // m and v of rank 0
  LossSum val;
};

// Inside ranks, where the macros of the test library are not for use: they are threads.
void require(bool holds) {
  if (!holds) throw std::logic_error("a rank has something else than expected");
}

std::vector<float> all_values(const ParameterValues& values, std::size_t count) {
  std::vector<float> all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<float> some = values(i);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Trained train_on(dist::Communicator& ranks, const char* device, Index micro_windows, bool shards,
                 const std::vector<Batch>& batches) {
  const auto backend = make_backend(device, 1);
  Model model(*backend, small_config(), Products::real);
  Plan plan;
  plan.prior_init = "spread";
  initialise_model(model, plan, 3);
  TrainerSettings settings;
  settings.micro_windows = micro_windows;
  settings.schedule = {ScheduleKind::cosine, std::ssize(batches), 1, 0.1};
  settings.learning_rate = settings.prior_learning_rate = 5e-3;
  settings.shards_optimizer = shards;
  Trainer trainer(model, settings, ranks);
  Trained result;
  for (const Batch& batch : batches) {
    const Share share = share_out(ranks, ranks.is_root() ? batch : Batch{});
    require(share.windows == batch.windows);
    const StepResult step = trainer.step(share.own);
    require(step.targets == count_targets(batch));
    result.losses.push_back(step.loss);
    result.norms.push_back(step.gradient_norm);
  }
  const std::size_t count = model.parameters().infos().size();
  result.parameters = all_values(values_of(model.parameters(), *backend), count);
  if (ranks.is_root()) {
    result.m = all_values(trainer.optimizer().all_m(), count);
    result.v = all_values(trainer.optimizer().all_v(), count);
  } else {
    trainer.optimizer().hand_over();
  }
  return result;
}

std::vector<Trained> train_on_ranks(int size, const char* device, Index micro_windows, bool shards,
                                    const std::vector<Batch>& batches) {
  std::vector<Trained> all(static_cast<std::size_t>(size));
  run_ranks(size, [&](dist::Communicator& ranks) {
    all[static_cast<std::size_t>(ranks.rank())] = train_on(ranks, device, micro_windows, shards, batches);
  });
  return all;
}

double largest_difference(const auto& a, const auto& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i] - b[i])));
  return largest;
}

const std::vector<Batch>& some_batches() {
  static const std::vector<Batch> batches = {random_batch(7, 1), random_batch(6, 2), random_batch(2, 3),
                                             random_batch(9, 4)};
  return batches;
}

}  // namespace

TEST_CASE("ranks: any number of them, and of windows at a time, is one rank to rounding") {
  const Trained one = train_on(dist::alone(), "ref", 3, false, some_batches());
  for (const int size : {2, 3, 5}) {
    for (const Index micro : {1, 2, 100}) {
      CAPTURE(size, micro);
      const std::vector<Trained> ranks = train_on_ranks(size, "ref", micro, false, some_batches());
      CHECK(largest_difference(ranks[0].losses, one.losses) < 1e-12);
      CHECK(largest_difference(ranks[0].norms, one.norms) < 1e-10);
      CHECK(largest_difference(ranks[0].parameters, one.parameters) < 1e-6);
      for (const Trained& rank : ranks) {
        CHECK(rank.losses == ranks[0].losses);
        CHECK(rank.norms == ranks[0].norms);
        CHECK(rank.parameters == ranks[0].parameters);
      }
    }
  }
}

TEST_CASE("ranks: an optimizer in shards gives the same bits") {
  for (const int size : {2, 3, 5}) {
    CAPTURE(size);
    const std::vector<Trained> whole = train_on_ranks(size, "cpu", 2, false, some_batches());
    const std::vector<Trained> shards = train_on_ranks(size, "cpu", 2, true, some_batches());
    CHECK(shards[0].m == whole[0].m);
    CHECK(shards[0].v == whole[0].v);
    for (const Trained& rank : shards) {
      CHECK(rank.losses == whole[0].losses);
      CHECK(rank.parameters == whole[0].parameters);
    }
  }
}

TEST_CASE("ranks: each keeps about as many moments") {
  const std::vector<ParameterInfo> infos = list_parameters(small_config());
  for (const int size : {1, 2, 4}) {
    std::vector<Index> load(static_cast<std::size_t>(size));
    const std::vector<int> owners = share_parameters(infos, size);
    REQUIRE(owners.size() == infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i)
      load.at(static_cast<std::size_t>(owners[i])) += infos[i].shape.count();
    const auto [least, most] = std::ranges::minmax(load);
    CHECK(most - least <= small_config().vocab * small_config().dim);
  }
}

TEST_CASE("ranks: evaluation in shares counts every target once") {
  const Batch whole = random_batch(11, 9);
  std::vector<LossSum> sums(4);
  for (const int size : {1, 2, 3, 4}) {
    run_ranks(size, [&](dist::Communicator& ranks) {
      const auto backend = make_backend("ref", 1);
      Model model(*backend, small_config(), Products::real);
      Plan plan;
      plan.prior_init = "spread";
      initialise_model(model, plan, 3);
      TrainerSettings settings;
      settings.micro_windows = 2;
      Trainer trainer(model, settings, ranks);
      const LossSum own = trainer.evaluate(share_out(ranks, ranks.is_root() ? whole : Batch{}).own);
      const double numbers[] = {own.nll_nats, static_cast<double>(own.targets)};
      const std::vector<double> all = ranks.gather_all(numbers);
      if (!ranks.is_root()) return;
      LossSum& sum = sums[static_cast<std::size_t>(size - 1)];
      for (std::size_t i = 0; i < all.size(); i += 2) sum += {all[i], static_cast<Index>(all[i + 1])};
    });
  }
  for (const LossSum& sum : sums) {
    CHECK(sum.targets == count_targets(whole));
    CHECK(std::abs(sum.nll_nats - sums[0].nll_nats) < 1e-9);
  }
}

TEST_CASE("ranks: one that gives up ends the step on all, and changes nothing") {
  std::vector<std::vector<float>> before(3), after(3);
  run_ranks(3, [&](dist::Communicator& ranks) {
    const auto backend = make_backend("cpu", 1);
    Model model(*backend, small_config(), Products::real);
    Plan plan;
    plan.prior_init = "authors";
    initialise_model(model, plan, 3);
    TrainerSettings settings;
    settings.micro_windows = 1;
    Trainer trainer(model, settings, ranks);
    const std::size_t count = model.parameters().infos().size();
    const auto place = static_cast<std::size_t>(ranks.rank());
    before[place] = all_values(values_of(model.parameters(), *backend), count);
    int asked = 0;
    // 7 windows: shares of 3, 2 and 2. The rank that gives up does so before the last round, which only rank 0 has.
    const Share share = share_out(ranks, ranks.is_root() ? random_batch(7, 5) : Batch{});
    const auto result = trainer.step(share.own, [&] { return ++asked == 2 && ranks.rank() == 2; });
    require(!result.has_value());
    after[place] = all_values(values_of(model.parameters(), *backend), count);
    require(trainer.step(share.own).targets > 0);
  });
  CHECK(after == before);
}

TEST_CASE("ranks: an error of one is the error of all") {
  std::vector<std::string> errors(3);
  run_ranks(3, [&](dist::Communicator& ranks) {
    errors[static_cast<std::size_t>(ranks.rank())] = error_of([&] {
      together(ranks, [&] {
        if (ranks.rank() > 0) throw UsageError("file " + std::to_string(ranks.rank()) + ": missing");
      });
    });
  });
  for (const std::string& error : errors) CHECK(error == "rank 1: file 1: missing");
  run_ranks(2, [](dist::Communicator& ranks) {
    together(ranks, [] {});
    require_same(ranks, "equal", "texts");
    require(error_of([&] { require_same(ranks, std::to_string(ranks.rank()), "texts"); }) ==
            "rank 1: texts are not those of rank 0, expected the same on all");
  });
}
