// boxes: eval model text io kernels base
#include "eval/generate.h"

#include <cmath>
#include <limits>
#include <map>

#include "model/kv_cache.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::vector<text::Token> some_ids(std::size_t count) {
  std::vector<text::Token> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<text::Token>((i * 37 + i * i) % 257));
  return ids;
}

// -ln p of a token, from the logits.
double nll(std::span<const double> logits, text::Token id) {
  double largest = logits[0];
  for (const double logit : logits) largest = std::max(largest, logit);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - largest);
  return largest + std::log(sum) - logits[static_cast<std::size_t>(id)];
}

std::map<text::Token, int> draws(const SamplingRule& rule, const std::vector<double>& logits, int count = 4000) {
  Sampler sampler(rule, 5);
  std::map<text::Token, int> drawn;
  for (int i = 0; i < count; ++i) ++drawn[sampler.choose(logits)];
  return drawn;
}

std::string stream(const text::Tokenizer& tokenizer, const std::vector<text::Token>& ids,
                   const std::vector<std::string>& stops, std::vector<std::string>* parts = nullptr) {
  TextStream text(tokenizer, {}, stops);
  std::string all;
  for (const text::Token id : ids) {
    const std::string part = text.add(id);
    if (parts != nullptr) parts->push_back(part);
    all += part;
  }
  return all + text.end();
}

}  // namespace

TEST_CASE("generate: the next logits say what the reader scores, in chunks and after a cut") {
  using enum PositionalEncoding;
  for (const PositionalEncoding pe : {nope, sinusoidal, rope, alibi, bam}) {
    for (const Products products : {Products::real, Products::bf16}) {
      const TinyModel tiny = random_model(tiny_config(pe), 1, products);
      const std::vector<text::Token> ids = some_ids(40);
      Reader reader(*tiny.loaded.model, 1, 40, 40);
      const std::vector<std::int32_t> first_key(40, 0);
      std::vector<std::int32_t> targets(ids.begin() + 1, ids.end());
      targets.push_back(3);
      const Scores scores = reader.read(ids, first_key, targets);
      const double limit = products == Products::real ? 1e-4 : 3e-2;
      Reader next(*tiny.loaded.model, 1, 50, 7);
      const std::span<const text::Token> all(ids);
      CHECK(nll(next.next_logits(all.first(20)), targets[19]) == Approx(scores.nll_nats[19]).margin(limit));
      CHECK(nll(next.next_logits(all.subspan(20, 1)), targets[20]) == Approx(scores.nll_nats[20]).margin(limit));
      next.next_logits(std::vector<text::Token>{1, 2, 3});
      next.truncate(21);
      CHECK(nll(next.next_logits(all.subspan(21)), 3) == Approx(scores.nll_nats[39]).margin(limit));
      CHECK(next.length() == 40);
      CHECK(contains(error_of([&] { next.next_logits(some_ids(11)); }), "reader: 11 tokens at position 40, made for"));
      CHECK(contains(error_of([&] { next.truncate(41); }), "reader: cannot keep 41 of 40"));
    }
  }
}

TEST_CASE("generate: blocks that may be skipped change next to nothing") {
  TinyModel tiny = random_model(tiny_config());
  const std::vector<text::Token> ids = some_ids(300);
  Reader dense(*tiny.loaded.model, 1, 300, 64);
  const std::vector<double> expected = dense.next_logits(ids);
  tiny.loaded.model->set_reading({.skip_eps = 1e-6});
  Reader skipping(*tiny.loaded.model, 1, 300, 64);
  skipping.next_logits(some_ids(290));
  skipping.truncate(150);
  const std::vector<double> got = skipping.next_logits(std::span(ids).subspan(150));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-3));
}

TEST_CASE("generate: a model that counts goes on counting") {
  const TinyModel tiny = successor_model(next_ids());
  Reader reader(*tiny.loaded.model, 1, 20, 8);
  Sampler sampler({});
  std::vector<double> logits = reader.next_logits(std::vector<text::Token>{5, 65});
  for (text::Token expected = 66; expected < 80; ++expected) {
    const text::Token id = sampler.choose(logits);
    CHECK(id == expected);
    logits = reader.next_logits(std::span(&id, 1));
  }
}

TEST_CASE("generate: greedy choice") {
  Sampler sampler({});
  CHECK(sampler.choose(std::vector<double>{1, 3, 2, 3}) == 1);
  CHECK(sampler.choose(std::vector<double>{-INFINITY, -INFINITY}) == 0);
  CHECK(contains(error_of([&] { sampler.choose(std::vector<double>{1, std::nan("")}); }), "not numbers"));
  CHECK(sampler.choose(std::vector<double>{0, INFINITY}) == 1);
}

TEST_CASE("generate: draws follow the temperature, top-k and top-p") {
  const std::vector<double> logits = {std::log(0.1), std::log(0.4), std::log(0.2), std::log(0.3)};
  const auto share = [](const std::map<text::Token, int>& drawn, text::Token id) {
    return drawn.contains(id) ? drawn.at(id) / 4000.0 : 0.0;
  };
  const auto plain = draws({.temperature = 1}, logits);
  CHECK(share(plain, 0) == Approx(0.1).margin(0.03));
  CHECK(share(plain, 1) == Approx(0.4).margin(0.03));
  CHECK(share(plain, 3) == Approx(0.3).margin(0.03));
  const auto sharp = draws({.temperature = 0.5}, logits);
  CHECK(share(sharp, 1) == Approx(0.16 / 0.30).margin(0.03));
  const auto two = draws({.temperature = 1, .top_k = 2}, logits);
  CHECK(two.size() == 2);
  CHECK(share(two, 1) == Approx(4.0 / 7).margin(0.03));
  const auto nucleus = draws({.temperature = 1, .top_p = 0.6}, logits);
  CHECK(nucleus.size() == 2);
  CHECK(share(nucleus, 3) == Approx(3.0 / 7).margin(0.03));
  CHECK(draws({.temperature = 1, .top_p = 0.75}, logits).size() == 3);
  CHECK(draws({.temperature = 1, .top_p = 1e-9}, logits).size() == 1);
  CHECK(draws({.temperature = 1000, .top_k = 1}, logits).size() == 1);
  CHECK(draws({.temperature = 1, .top_k = 100}, logits).size() == 4);
  CHECK(draws({.temperature = 1e-9}, logits).size() == 1);
  CHECK(draws({.temperature = 1}, {INFINITY, 0, INFINITY}).size() == 2);
  Sampler a({.temperature = 1}, 1);
  Sampler b({.temperature = 1}, 1);
  Sampler c({.temperature = 1}, 2);
  std::vector<text::Token> from_a, from_b, from_c;
  for (int i = 0; i < 50; ++i) {
    from_a.push_back(a.choose(logits));
    from_b.push_back(b.choose(logits));
    from_c.push_back(c.choose(logits));
  }
  CHECK(from_a == from_b);
  CHECK(from_a != from_c);
}

TEST_CASE("generate: characters come whole") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const std::string text = "a\u00E9\u20AC\U0001F600z";
  std::vector<text::Token> ids;
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  std::vector<std::string> parts;
  CHECK(stream(*tokenizer, ids, {}, &parts) == text);
  CHECK(parts == std::vector<std::string>{"a", "", "\u00E9", "", "", "\u20AC", "", "", "", "\U0001F600", "z"});
  CHECK(stream(*tokenizer, {0xE2, 0x82}, {}) == "\xE2\x82");
  std::vector<text::Token> many;
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    for (const char c : std::string("\u20AC x")) many.push_back(static_cast<unsigned char>(c));
    expected += "\u20AC x";
  }
  CHECK(stream(*tokenizer, many, {}) == expected);
}

TEST_CASE("generate: pieces keep the blanks between words, and behind the prompt") {
  const auto tokenizer = text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
  const std::vector<text::Token> prompt = tokenizer->encode("The house");
  const std::vector<text::Token> whole =
      tokenizer->encode("The house that stands there by the river \U0001F600 is old");
  REQUIRE(std::equal(prompt.begin(), prompt.end(), whole.begin()));
  TextStream text(*tokenizer, prompt, {});
  std::string all;
  for (std::size_t i = prompt.size(); i < whole.size(); ++i) all += text.add(whole[i]);
  CHECK(all + text.end() == " that stands there by the river \U0001F600 is old");
}

TEST_CASE("generate: stop strings") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const auto ids = [](const std::string& text) {
    std::vector<text::Token> all;
    for (const char c : text) all.push_back(static_cast<unsigned char>(c));
    return all;
  };
  CHECK(stream(*tokenizer, ids("one END two"), {"END"}) == "one ");
  CHECK(stream(*tokenizer, ids("one EN"), {"END"}) == "one EN");
  CHECK(stream(*tokenizer, ids("EENEND."), {"END", "."}) == "EEN");
  CHECK(stream(*tokenizer, ids("a.b"), {"END", "."}) == "a");
  std::vector<std::string> parts;
  stream(*tokenizer, ids("xEEND"), {"END"}, &parts);
  CHECK(parts == std::vector<std::string>{"x", "", "E", "", ""});
}
