// boxes: model io kernels base
#include "model/reading_rule.h"

#include <cmath>

#include "base/error.h"
#include "model/kv_cache.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::test;

namespace {

ModelConfig rope_config(Index dim, Index heads, Index context) {
  ModelConfig config = tiny_config(PositionalEncoding::rope);
  config.dim = dim;
  config.heads = config.kv_heads = heads;
  config.context = context;
  return config;
}

std::vector<std::int32_t> some_ids(Index count) {
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>((i * i * 7 + 3 * i) % 256));
  return ids;
}

std::vector<double> nll(const Model& model, const std::vector<std::int32_t>& ids, Index chunk,
                        const std::vector<std::int32_t>& first_key) {
  Reader reader(model, 1, std::ssize(ids), chunk);
  std::vector<double> all;
  for (Index at = 0; at < std::ssize(ids); at += chunk) {
    const auto first = static_cast<std::size_t>(at);
    const std::size_t n = std::min(static_cast<std::size_t>(chunk), ids.size() - first);
    const std::vector<std::int32_t> targets(n, 5);
    const Scores part = reader.read(std::span(ids).subspan(first, n), std::span(first_key).subspan(first, n), targets);
    all.insert(all.end(), part.nll_nats.begin(), part.nll_nats.end());
  }
  return all;
}

}  // namespace

TEST_CASE("reading rule: what scalings are called") {
  for (const std::string text : {"none", "linear:4", "ntk:8.5", "yarn:64"}) {
    CHECK(format_rope_scaling(parse_rope_scaling(text)) == text);
  }
  for (const std::string text : {"", "none:2", "linear", "linear:", "yarn:0.5", "yarn:nan", "dynamic:2", "ntk:2:3"}) {
    CHECK_THROWS_AS(parse_rope_scaling(text), UsageError);
  }
}

TEST_CASE("reading rule: what a table says of it") {
  CHECK(format_reading({.skip_eps = 1e-6}) == "eps=1e-06");
  CHECK(format_reading({.skip_eps = 0, .window = 512}) == "eps=0,window=512");
  CHECK(format_reading({.rope_scaling = {RopeScaling::Kind::yarn, 8}}) == "eps=0,rope-scaling=yarn:8");
}

TEST_CASE("reading rule: frequencies by their definitions") {
  const ModelConfig config = rope_config(64, 4, 512);  // heads of 16, eight pairs
  const auto plain = rotary_frequencies(config, {});
  const auto at = [&](RopeScaling::Kind kind, double factor) { return rotary_frequencies(config, {kind, factor}); };
  for (std::size_t k = 0; k < 8; ++k) {
    CHECK(plain.inverse[k] == Approx(std::pow(500000.0, -static_cast<double>(k) / 8)));
    CHECK(at(RopeScaling::Kind::linear, 4).inverse[k] == Approx(plain.inverse[k] / 4));
    CHECK(at(RopeScaling::Kind::yarn, 1).inverse[k] == Approx(plain.inverse[k]));
  }
  const auto ntk = at(RopeScaling::Kind::ntk, 4);
  CHECK(ntk.inverse.front() == Approx(1));
  CHECK(ntk.inverse.back() == Approx(plain.inverse.back() / 4));  // the slowest pair is stretched by the factor
  CHECK(ntk.magnitude == 1);
  // With theta 500000, d 16 and 512 positions, 32 turns are at pair 0.57, one at 2.68: the ramp runs from 0 to 3.
  const auto yarn = at(RopeScaling::Kind::yarn, 4);
  const double ramp[8] = {0, 1.0 / 3, 2.0 / 3, 1, 1, 1, 1, 1};
  for (std::size_t k = 0; k < 8; ++k) {
    CHECK(yarn.inverse[k] == Approx(plain.inverse[k] * (1 - ramp[k] + ramp[k] / 4)));
  }
  CHECK(yarn.magnitude == Approx(0.1 * std::log(4.0) + 1));
}

TEST_CASE("reading rule: what a model cannot do is refused") {
  TinyModel bam = random_model(tiny_config(PositionalEncoding::bam));
  CHECK(contains(error_of([&] {
                   bam.model().set_reading({.rope_scaling = {RopeScaling::Kind::ntk, 2}});
                 }),
                 "--rope-scaling: the model's positions are 'bam', expected rope"));
  TinyModel rope = random_model(rope_config(32, 4, 0));
  CHECK(contains(error_of([&] {
                   rope.model().set_reading({.rope_scaling = {RopeScaling::Kind::yarn, 2}});
                 }),
                 "--rope-scaling: yarn goes by the training context, and this model has none"));
}

TEST_CASE("reading rule: ntk scaling reads as a model with that theta would") {
  const ModelConfig config = rope_config(32, 2, 16);
  ModelConfig other = config;
  other.rope_theta = config.rope_theta * std::pow(8.0, 16.0 / 14);
  TinyModel tiny = random_model(config);
  TinyModel wide = random_model(other);
  const std::vector<std::int32_t> ids = some_ids(40);
  const std::vector<std::int32_t> whole(40, 0);
  const std::vector<double> plain = nll(tiny.model(), ids, 40, whole);
  tiny.model().set_reading({.rope_scaling = {RopeScaling::Kind::ntk, 8}});
  const std::vector<double> scaled = nll(tiny.model(), ids, 40, whole);
  const std::vector<double> expected = nll(wide.model(), ids, 40, whole);
  for (std::size_t i = 0; i < 40; ++i) CHECK(scaled[i] == Approx(expected[i]).epsilon(1e-6));
  CHECK(scaled[39] != Approx(plain[39]).epsilon(1e-6));
}

TEST_CASE("reading rule: a window hides what first keys would hide, in any chunks") {
  for (const PositionalEncoding pe : {PositionalEncoding::rope, PositionalEncoding::bam, PositionalEncoding::nope}) {
    TinyModel tiny = random_model(tiny_config(pe));
    const std::vector<std::int32_t> ids = some_ids(50);
    std::vector<std::int32_t> by_hand, documents;
    for (std::int32_t i = 0; i < 50; ++i) documents.push_back(i < 20 ? 0 : 20);
    for (std::int32_t i = 0; i < 50; ++i) by_hand.push_back(std::max(documents[static_cast<std::size_t>(i)], i - 6));
    const std::vector<double> expected = nll(tiny.model(), ids, 50, by_hand);
    tiny.model().set_reading({.window = 7});
    for (const Index chunk : {1, 8, 50}) {
      const std::vector<double> found = nll(tiny.model(), ids, chunk, documents);
      for (std::size_t i = 0; i < 50; ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-5));
    }
  }
}
