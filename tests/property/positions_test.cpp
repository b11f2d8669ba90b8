// boxes: model io kernels
// What the encodings have in common, on whole models: special cases of one prior are the others, documents packed into
// a window are the documents alone, and a padded vocabulary is not needed to keep them apart.
#include <cmath>

#include "base/rng.h"
#include "kernels/registry.h"
#include "model/training_pass.h"
#include "prior/init.h"
#include "support/device_under_test.h"
#include "support/golden_model.h"

namespace bam::test {
namespace {

ModelConfig small(PositionalEncoding pe, Ssmax ssmax) {
  return {.dim = 48,
          .layers = 2,
          .heads = 6,
          .kv_heads = 3,
          .ffn = 40,
          .vocab = 61,
          .pe = pe,
          .ssmax = ssmax,
          .context = 70};
}

constexpr std::int32_t kBos = 60;

// Documents of the given lengths, one behind the other, each beginning with BOS.
Batch packed(const std::vector<Index>& lengths) {
  Batch batch{.windows = 1, .tokens = 0, .ids = {}, .targets = {}, .first_key = {}};
  Rng rng(7);
  for (const Index length : lengths) {
    const auto first = static_cast<std::int32_t>(batch.ids.size());
    for (Index t = 0; t < length; ++t) {
      batch.ids.push_back(t == 0 ? kBos : static_cast<std::int32_t>(rng.below(60)));
      batch.targets.push_back(static_cast<std::int32_t>(rng.below(60)));
      batch.first_key.push_back(first);
    }
  }
  batch.tokens = std::ssize(batch.ids);
  return batch;
}

// Rows [first, first + count) of a batch of one window, as a window of their own.
Batch alone(const Batch& all, Index first, Index count) {
  Batch batch{.windows = 1, .tokens = count, .ids = {}, .targets = {}, .first_key = {}};
  for (Index t = first; t < first + count; ++t) {
    const auto at = static_cast<std::size_t>(t);
    batch.ids.push_back(all.ids[at]);
    batch.targets.push_back(all.targets[at]);
    batch.first_key.push_back(static_cast<std::int32_t>(all.first_key[at] - first));
  }
  return batch;
}

// The same seed gives matrices by the place of a parameter, so they are copied by name instead.
void copy_matrices(const Model& from, Model& to) {
  for (std::size_t i = 0; i < to.parameters().infos().size(); ++i) {
    const TensorView source = from.parameters().named(to.parameters().infos()[i].name);
    if (!source.empty()) to.backend().cast({source, to.parameters()[i]});
  }
}

void fill(Model& model, const std::string& name, double (*value)(Index layer, Index head, double slope)) {
  const ModelConfig& config = model.config();
  const std::vector<double> slopes = alibi_slopes(config.heads);
  for (Index layer = 0; layer < config.layers; ++layer) {
    std::vector<float> values;
    for (Index h = 0; h < config.heads; ++h) {
      values.push_back(static_cast<float>(value(layer, h, slopes[static_cast<std::size_t>(h)])));
    }
    model.backend().copy_in(model.parameters().named("layers/" + std::to_string(layer) + "/" + name),
                            {values.data(), DType::f32, {config.heads}});
  }
}

std::vector<double> logits_of(Model& model, const Batch& batch) {
  TrainingPass pass(model, batch.windows, batch.tokens);
  Tensor logits(model.backend(), model.real(), {batch.windows * batch.tokens, model.config().vocab});
  pass.forward(batch, logits);
  return to_host(model.backend(), logits.view());
}

}  // namespace

TEST_CASE("positions: shape 1 with the slopes of ALiBi is ALiBi") {
  const auto backend = make_backend(device_under_test(), 2);
  const Batch batch = packed({70});
  for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
    Model alibi(*backend, small(PositionalEncoding::alibi, ssmax), Products::real);
    Model bam(*backend, small(PositionalEncoding::bam, ssmax), Products::real);
    initialise(alibi.parameters(), alibi.config(), *backend, 3);
    copy_matrices(alibi, bam);
    fill(bam, "prior_shape", [](Index, Index, double) { return 1.0; });
    fill(bam, "prior_scale", [](Index, Index, double slope) { return std::log(slope); });
    fill(bam, "prior_loc", [](Index, Index, double) { return 0.0; });
    const auto expected = logits_of(alibi, batch);
    CHECK(largest_difference(logits_of(bam, batch), expected) <= 2e-5 * largest(expected));
    // Another shape is another model: the comparison can fail.
    fill(bam, "prior_shape", [](Index, Index, double) { return 0.5; });
    CHECK(largest_difference(logits_of(bam, batch), expected) > 1e-3 * largest(expected));
  }
}

TEST_CASE("positions: a scale of -40 is no prior") {
  const auto backend = make_backend(device_under_test(), 2);
  const Batch batch = packed({70});
  for (const Ssmax ssmax : {Ssmax::off, Ssmax::content}) {
    Model nope(*backend, small(PositionalEncoding::nope, ssmax), Products::real);
    Model bam(*backend, small(PositionalEncoding::bam, ssmax), Products::real);
    initialise(nope.parameters(), nope.config(), *backend, 3);
    copy_matrices(nope, bam);
    fill(bam, "prior_shape", [](Index layer, Index head, double) {
      return -2.5 + 0.9 * static_cast<double>(head) + 0.1 * static_cast<double>(layer);
    });
    fill(bam, "prior_scale", [](Index, Index, double) { return -40.0; });
    fill(bam, "prior_loc", [](Index, Index, double) { return 0.0; });
    const auto expected = logits_of(nope, batch);
    CHECK(largest_difference(logits_of(bam, batch), expected) <= 2e-5 * largest(expected));
  }
}

TEST_CASE("positions: packed documents are the documents alone") {
  const auto backend = make_backend(device_under_test(), 2);
  const std::vector<Index> lengths = {1, 33, 7, 64, 2};
  for (const PositionalEncoding pe :
       {PositionalEncoding::nope, PositionalEncoding::rope, PositionalEncoding::alibi, PositionalEncoding::bam}) {
    for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
      INFO(name_in(positional_encoding_names(), pe) << " " << name_in(ssmax_names(), ssmax));
      Model model(*backend, small(pe, ssmax), Products::real);
      initialise(model.parameters(), model.config(), *backend, 11);
      const Batch all = packed(lengths);
      const auto together = logits_of(model, all);
      Index first = 0;
      for (const Index length : lengths) {
        const auto expected = logits_of(model, alone(all, first, length));
        const auto begin = together.begin() + first * model.config().vocab;
        const std::vector<double> found(begin, begin + length * model.config().vocab);
        CHECK(largest_difference(found, expected) <= 2e-5 * largest(expected));
        first += length;
      }
    }
  }
}

TEST_CASE("positions: a token of one document does not reach another's logits") {
  const auto backend = make_backend(device_under_test(), 2);
  for (const PositionalEncoding pe :
       {PositionalEncoding::sinusoidal, PositionalEncoding::rope, PositionalEncoding::bam}) {
    Model model(*backend, small(pe, Ssmax::content), Products::real);
    initialise(model.parameters(), model.config(), *backend, 11);
    Batch batch = packed({20, 30});
    const auto before = logits_of(model, batch);
    batch.ids[5] = (batch.ids[5] + 1) % 60;
    const auto after = logits_of(model, batch);
    const auto border = 20 * model.config().vocab;
    CHECK(std::equal(before.begin() + border, before.end(), after.begin() + border));
    CHECK_FALSE(std::equal(before.begin(), before.begin() + border, after.begin()));
  }
}

}  // namespace bam::test
