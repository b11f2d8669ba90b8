// boxes: eval model text io kernels base
#include <limits>
#include <map>
#include <numeric>

#include "base/rng.h"
#include "eval/passkey.h"
#include "eval/perplexity.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

const std::vector<PositionalEncoding> kEncodings = {PositionalEncoding::nope, PositionalEncoding::sinusoidal,
                                                    PositionalEncoding::rope, PositionalEncoding::alibi,
                                                    PositionalEncoding::bam};

// Documents of every length, as text of one byte each.
std::string write_lines(const ScratchFolder& folder) {
  Rng rng(5);
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    for (std::uint64_t n = rng.below(30); n > 0; --n) lines += static_cast<char>('a' + rng.below(26));
    lines += '\n';
  }
  spit(folder / "lines.txt", lines);
  return folder / "lines.txt";
}

PerplexityResult evaluate(const TinyModel& tiny, const std::string& path, const PerplexityOptions& options) {
  text::InputOptions input;
  input.format = text::InputFormat::lines;
  TokenSource source(tiny.loaded, {{path}, input, {}, 0});
  return evaluate_perplexity(tiny.loaded, source, options, std::numeric_limits<double>::infinity());
}

void check_equal(const PerplexityResult& a, const PerplexityResult& b, double relative) {
  REQUIRE(a.bins.size() == b.bins.size());
  CHECK(a.all.nll_nats.count() == b.all.nll_nats.count());
  CHECK(a.all.nll_nats.groups() == b.all.nll_nats.groups());
  CHECK(a.all.nll_nats.mean() == Approx(b.all.nll_nats.mean()).epsilon(relative));
  CHECK(a.all.bytes == b.all.bytes);
  for (std::size_t i = 0; i < a.bins.size(); ++i) {
    CHECK(a.bins[i].nll_nats.mean() == Approx(b.bins[i].nll_nats.mean()).epsilon(relative));
    CHECK(a.bins[i].nll_nats.count() == b.bins[i].nll_nats.count());
  }
}

std::vector<PasskeyItem> answers(const TinyModel& tiny, const PasskeyTask& task, const PasskeyOptions& options,
                                 std::vector<Index> samples = {}) {
  const PasskeyPrompts prompts(*tiny.loaded.tokenizer, task);
  if (samples.empty()) {
    samples.resize(static_cast<std::size_t>(task.samples));
    std::iota(samples.begin(), samples.end(), Index{0});
  }
  return run_passkey(*tiny.loaded.model, prompts, 900, samples, options);
}

void check_equal(const std::vector<PasskeyItem>& a, const std::vector<PasskeyItem>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].sample == b[i].sample);
    CHECK(a[i].key == b[i].key);
    CHECK(a[i].needle_token == b[i].needle_token);
    CHECK(a[i].found == b[i].found);
    CHECK(a[i].nll_nats == Approx(b[i].nll_nats).epsilon(2e-5));
  }
}

void check_same(const std::vector<PasskeyItem>& a, const std::vector<PasskeyItem>& b) {
  check_equal(a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].nll_nats == b[i].nll_nats);
    CHECK(a[i].read_tokens == b[i].read_tokens);
    CHECK(a[i].skipped.share() == b[i].skipped.share());
  }
}

}  // namespace

TEST_CASE("evaluation: perplexity does not depend on the chunk, nor on how many windows are read together") {
  ScratchFolder folder;
  const std::string path = write_lines(folder);
  for (const PositionalEncoding pe : kEncodings) {
    const TinyModel tiny = random_model(tiny_config(pe));
    for (const WindowRule rule : {WindowRule{40, 0}, WindowRule{40, 7}, WindowRule{40, 40}}) {
      const auto at = [&](Index chunk) { return evaluate(tiny, path, {.rule = rule, .bin = 9, .chunk = chunk}); };
      const PerplexityResult whole = at(40);
      for (const Index chunk : {1, 2, 7, 39, 41, 120, 100'000}) {
        INFO(name_in(positional_encoding_names(), pe) << ", stride " << rule.stride << ", chunk " << chunk);
        check_equal(at(chunk), whole, 1e-6);
      }
    }
  }
}

TEST_CASE("evaluation: perplexity equals that of ref, and bfloat16 is near") {
  ScratchFolder folder;
  const std::string path = write_lines(folder);
  const PerplexityOptions options{.rule = {40, 0}, .bin = 10, .chunk = 16};
  for (const PositionalEncoding pe : kEncodings) {
    const PerplexityResult expected = evaluate(random_model(tiny_config(pe), 1, Products::real, "ref"), path, options);
    check_equal(evaluate(random_model(tiny_config(pe)), path, options), expected, 1e-6);
    check_equal(evaluate(random_model(tiny_config(pe), 1, Products::bf16), path, options), expected, 5e-3);
  }
}

TEST_CASE("evaluation: a share's windows have the bits that they have in the whole") {
  ScratchFolder folder;
  const std::string path = write_lines(folder);
  const TinyModel tiny = random_model();
  for (const WindowRule rule : {WindowRule{20, 0}, WindowRule{20, 7}}) {
    PerplexityOptions options{.rule = rule, .bin = 9, .chunk = 100, .keeps_items = true};
    const std::vector<PerplexityItem> whole = evaluate(tiny, path, options).items;
    std::map<std::pair<Index, Index>, double> in_shares;
    for (Index number = 1; number <= 3; ++number) {
      options.share = {number, 3};
      for (const PerplexityItem& item : evaluate(tiny, path, options).items) {
        in_shares[{item.window, item.bin}] = item.nll_nats;
      }
    }
    REQUIRE(in_shares.size() == whole.size());
    for (const PerplexityItem& item : whole) CHECK(in_shares[{item.window, item.bin}] == item.nll_nats);
  }
}

TEST_CASE("evaluation: a second run gives the same bits, other threads the same but for rounding") {
  ScratchFolder folder;
  const std::string path = write_lines(folder);
  const PerplexityOptions options{.rule = {64, 0}, .bin = 16, .chunk = 64};
  const PerplexityResult one = evaluate(random_model(), path, options);
  CHECK(evaluate(random_model(), path, options).all.nll_nats.sum() == one.all.nll_nats.sum());
  check_equal(evaluate(random_model(tiny_config(), 2), path, options), one, 1e-6);
}

TEST_CASE("evaluation: a document is scored alike wherever it stands") {
  // Sinusoidal positions count in the window, so that there it is not so.
  ScratchFolder folder;
  spit(folder / "alone.txt", "the second document\n");
  spit(folder / "packed.txt", "first\nthe second document\n");
  for (const PositionalEncoding pe : kEncodings) {
    if (pe == PositionalEncoding::sinusoidal) continue;
    const TinyModel tiny = random_model(tiny_config(pe));
    const auto sum = [&](const std::string& name) {
      return evaluate(tiny, folder / name, {.rule = {40, 40}}).all.nll_nats.sum();
    };
    spit(folder / "first.txt", "first\n");
    spit(folder / "border.txt", "first\n\x01\n");
    // Sum over "first", over the BOS behind it, and over the second document, each from a run of its own.
    const double border = sum("border.txt") - sum("first.txt");
    spit(folder / "other.txt", "\x01\n");
    CHECK(sum("packed.txt") - sum("first.txt") - sum("alone.txt") == Approx(border - sum("other.txt")).epsilon(1e-5));
  }
}

TEST_CASE("evaluation: passkey with a shared prefix equals separate runs to the bit, and so does a share") {
  for (const PositionalEncoding pe : kEncodings) {
    const TinyModel tiny = random_model(tiny_config(pe));
    for (const NeedleDepths depths :
         {NeedleDepths::equidistant, NeedleDepths::random, NeedleDepths::beginning, NeedleDepths::end}) {
      const PasskeyTask task{.digits = 3, .samples = 5, .depths = depths, .seed = 9};
      INFO(name_in(positional_encoding_names(), pe) << ", " << name_in(needle_depth_names(), depths));
      const std::vector<PasskeyItem> separate = answers(tiny, task, {.chunk = 50, .share_prefix = false});
      check_same(answers(tiny, task, {.chunk = 50, .share_prefix = true}), separate);
      check_same(answers(tiny, task, {.chunk = 50, .share_prefix = true}, {2, 4}), {separate[2], separate[4]});
    }
  }
}

TEST_CASE("evaluation: passkey does not depend on the chunk or the threads") {
  const PasskeyTask task{.samples = 4, .seed = 2};
  const std::vector<PasskeyItem> expected = answers(random_model(), task, {.chunk = 2000});
  for (const Index chunk : {1, 5, 333}) check_equal(answers(random_model(), task, {.chunk = chunk}), expected);
  check_equal(answers(random_model(tiny_config(), 2), task, {.chunk = 2000}), expected);
}

TEST_CASE("evaluation: certified skipping changes no answer, and leaves something out") {
  ScratchFolder folder;
  spit(folder / "long.txt", std::string(3000, 'a') + slurp(write_lines(folder)));
  for (const PositionalEncoding pe : kEncodings) {
    INFO(name_in(positional_encoding_names(), pe));
    TinyModel tiny = random_model(tiny_config(pe));
    const PasskeyTask task{.samples = 4, .seed = 2};
    const PerplexityOptions options{.rule = {1500, 0}, .bin = 500, .chunk = 333};
    const auto dense_answers = answers(tiny, task, {.chunk = 256});
    const PerplexityResult dense = evaluate(tiny, folder / "long.txt", options);
    CHECK(dense.skipped.share() == 0);
    tiny.model().set_reading({.skip_eps = 1e-6});
    const auto skipping_answers = answers(tiny, task, {.chunk = 256});
    const PerplexityResult skipping = evaluate(tiny, folder / "long.txt", options);
    check_equal(skipping_answers, dense_answers);
    check_equal(skipping, dense, 1e-5);
    const bool is_biased = pe == PositionalEncoding::alibi || pe == PositionalEncoding::bam;
    CHECK((skipping.skipped.share() > 0.02) == is_biased);
    for (const PasskeyItem& item : skipping_answers) CHECK((item.skipped.share() > 0.02) == is_biased);
  }
}
