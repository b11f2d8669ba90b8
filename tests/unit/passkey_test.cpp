// boxes: eval model text io kernels base
#include "eval/passkey.h"

#include <limits>
#include <numeric>
#include <set>

#include "eval/statistics.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

const std::string kDescription =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. I will quiz you "
    "about the important information there.";
const std::string kFiller =
    " The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";
const std::string kQuestion = " What is the pass key? The pass key is";

std::string line_of(const std::string& key) {
  return " The pass key is " + key + ". Remember it. " + key + " is the pass key.";
}

std::vector<Index> first_samples(Index count) {
  std::vector<Index> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), Index{0});
  return samples;
}

std::vector<PasskeyItem> answers(const TinyModel& tiny, const PasskeyTask& task, Index length) {
  const PasskeyPrompts prompts(*tiny.loaded.tokenizer, task);
  return run_passkey(*tiny.loaded.model, prompts, length, first_samples(task.samples), {});
}

}  // namespace

TEST_CASE("passkey: Wilson's interval") {
  const auto check = [](Index successes, Index trials, double low, double high) {
    const Interval interval = wilson_interval(successes, trials);
    CHECK(interval.low == Approx(low).margin(5e-5));
    CHECK(interval.high == Approx(high).margin(5e-5));
  };
  check(0, 0, 0, 1);
  check(0, 10, 0, 0.2775);
  check(10, 10, 0.7225, 1);
  check(5, 10, 0.2366, 0.7634);
  check(81, 263, 0.2553, 0.3662);  // Newcombe 1998, table I, method 3
  check(15, 148, 0.0624, 0.1605);
  check(1, 29, 0.0061, 0.1718);
}

TEST_CASE("passkey: the prompt is that of the task, as long as fits") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const PasskeyPrompts prompts(*tokenizer, {.samples = 3, .seed = 4});
  const Index fixed = static_cast<Index>(1 + kDescription.size() + line_of("12345").size() + kQuestion.size());
  const auto filler = static_cast<Index>(kFiller.size());
  CHECK(prompts.fillers(fixed) == 0);
  CHECK(prompts.fillers(fixed + filler - 1) == 0);
  CHECK(prompts.fillers(fixed + filler) == 1);
  CHECK(error_of([&] { prompts.fillers(fixed - 1); }) == "--lengths: " + std::to_string(fixed - 1) +
                                                             " tokens are too few, expected at least the " +
                                                             std::to_string(fixed) + " of the task without filler");
  const Index length = fixed + 4 * filler + 5;
  for (Index sample = 0; sample < 3; ++sample) {
    const PasskeyPrompt prompt = prompts.make(length, sample);
    CHECK(prompt.fillers == 4);
    CHECK(prompt.needle == 2 * sample);
    CHECK(prompt.depth() == Approx(0.5 * static_cast<double>(sample)));
    CHECK(prompt.prompt_tokens == length - 5);
    CHECK(prompt.key.size() == 5);
    CHECK(prompt.key.front() != '0');
    std::string expected = kDescription;
    for (Index i = 0; i < prompt.needle; ++i) expected += kFiller;
    CHECK(prompt.needle_token == static_cast<Index>(1 + expected.size()));
    expected += line_of(prompt.key);
    for (Index i = prompt.needle; i < 4; ++i) expected += kFiller;
    expected += kQuestion + " " + prompt.key;
    CHECK(prompt.ids.front() == 256);
    CHECK(tokenizer->decode(prompt.ids) == expected);
    const std::span<const text::Token> ids(prompt.ids);
    CHECK(tokenizer->decode(ids.subspan(static_cast<std::size_t>(prompt.first_scored))) == prompt.key);
  }
}

TEST_CASE("passkey: without BOS, with prefix digits") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const PasskeyPrompts prompts(*tokenizer, {.digits = 3, .prefix_digits = 2, .samples = 1, .bos = BosUse::no});
  const PasskeyPrompt prompt = prompts.make(1000, 0);
  CHECK(prompt.ids.front() == 'T');
  CHECK(prompt.key.size() == 5);
  CHECK(std::ssize(prompt.ids) - prompt.first_scored == 3);
  CHECK(prompt.first_scored - prompt.prompt_tokens == 3);  // the blank and two digits
  CHECK(prompt.needle == 0);
}

TEST_CASE("passkey: pieces of a tokenizer that puts blanks by itself") {
  const auto tokenizer = text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
  const PasskeyPrompts prompts(*tokenizer, {.samples = 1});
  const PasskeyPrompt prompt = prompts.make(400, 0);
  const std::vector<text::Token> filler = tokenizer->encode(kFiller.substr(1));
  const std::vector<text::Token> description = tokenizer->encode(kDescription);
  CHECK(prompt.needle_token == 1 + std::ssize(description));
  CHECK(prompt.fillers > 0);
  CHECK(prompt.prompt_tokens > 400 - std::ssize(filler));
  CHECK(prompt.prompt_tokens <= 400);
  const std::vector<text::Token> answer = tokenizer->encode(" " + prompt.key);
  CHECK(std::equal(answer.begin(), answer.end(), prompt.ids.begin() + prompt.prompt_tokens, prompt.ids.end()));
  const std::span<const text::Token> ids(prompt.ids);
  CHECK(tokenizer->decode(ids.subspan(static_cast<std::size_t>(prompt.first_scored))) == prompt.key);
  std::string expected = kDescription + line_of(prompt.key);
  for (Index i = 0; i < prompt.fillers; ++i) expected += kFiller;
  CHECK(tokenizer->decode(ids.first(static_cast<std::size_t>(prompt.prompt_tokens))) == expected + kQuestion);
}

TEST_CASE("passkey: depths") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const auto needles = [&](NeedleDepths depths, Index samples) {
    const PasskeyPrompts prompts(*tokenizer, {.samples = samples, .depths = depths});
    std::vector<Index> all;
    for (Index i = 0; i < samples; ++i) all.push_back(prompts.make(1200, i).needle);
    return all;
  };
  const Index fillers = PasskeyPrompts(*tokenizer, {}).fillers(1200);
  REQUIRE(fillers == 10);
  CHECK(needles(NeedleDepths::equidistant, 4) == std::vector<Index>{0, 3, 6, 10});
  CHECK(needles(NeedleDepths::equidistant, 1) == std::vector<Index>{0});
  CHECK(needles(NeedleDepths::beginning, 2) == std::vector<Index>{0, 0});
  CHECK(needles(NeedleDepths::end, 2) == std::vector<Index>{10, 10});
  const std::vector<Index> drawn = needles(NeedleDepths::random, 400);
  CHECK(std::set<Index>(drawn.begin(), drawn.end()).size() == 11);
}

TEST_CASE("passkey: keys depend on the seed, the length and the sample, and on nothing else") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const auto key = [&](std::uint64_t seed, Index length, Index sample, Index samples) {
    return PasskeyPrompts(*tokenizer, {.samples = samples, .seed = seed}).make(length, sample).key;
  };
  CHECK(key(1, 1000, 3, 10) == key(1, 1000, 3, 20));
  CHECK(key(1, 1000, 3, 10) != key(2, 1000, 3, 10));
  CHECK(key(1, 1000, 3, 10) != key(1, 1001, 3, 10));
  CHECK(key(1, 1000, 3, 10) != key(1, 1000, 4, 10));
}

TEST_CASE("passkey: a model that counts finds the keys that count") {
  const TinyModel tiny = successor_model(next_ids());
  const std::vector<PasskeyItem> items =
      answers(tiny, {.digits = 1, .prefix_digits = 1, .samples = 200, .depths = NeedleDepths::end, .seed = 3}, 600);
  int found = 0;
  for (const PasskeyItem& item : items) {
    const bool counts = item.key[1] == item.key[0] + 1;
    CHECK(item.found == counts);
    CHECK((item.nll_nats < 1e-6) == counts);
    CHECK(item.scored == 1);
    found += counts ? 1 : 0;
  }
  CHECK(found > 5);
  // With both digits asked for, the first would have to stand behind the blank.
  for (const PasskeyItem& item : answers(tiny, {.digits = 2, .samples = 50}, 600)) CHECK_FALSE(item.found);
}

TEST_CASE("passkey: a tie is a miss") {
  const TinyModel tiny = uniform_model();
  for (const PasskeyItem& item : answers(tiny, {.digits = 1, .samples = 20}, 600)) CHECK_FALSE(item.found);
}

TEST_CASE("passkey: lengths are refused before anything is read") {
  const TinyModel tiny = uniform_model();
  const PasskeyPrompts prompts(*tiny.loaded.tokenizer, {});
  PasskeyOptions options;
  options.memory_bytes = 1e9;
  const auto error = [&](std::vector<Index> lengths) {
    return error_of([&] { check_lengths(*tiny.loaded.model, prompts, lengths, options); });
  };
  CHECK(error({600, 6000}) == "no error");
  CHECK(contains(error({600, 100}), "--lengths: 100 tokens are too few"));
  CHECK(contains(error({600, 100'000'000}), "--lengths: 100000000 tokens take "));
  CHECK(contains(error({600, std::numeric_limits<Index>::max()}), "--lengths: "));
}

TEST_CASE("passkey: the table has a row for each place and one for all") {
  std::vector<PasskeyItem> items(3);
  for (std::size_t i = 0; i < 3; ++i) {
    items[i] = {.length = 512,
                .sample = static_cast<Index>(i),
                .real_length = 500,
                .depth = i == 0 ? 0.0 : 0.5,
                .needle_token = i == 0 ? 30 : 260,
                .key = "12345",
                .found = i != 1,
                .nll_nats = 1,
                .scored = 5,
                .read_tokens = 100,
                .skipped = {{8}, {{2}}},
                .seconds = 0.25};
  }
  io::MemorySink sink;
  io::TableWriter table(sink, io::TableFormat::tsv, passkey_columns(true), false);
  PasskeyRun run{{.samples = 3, .seed = 7}, {"7", "f32", "eps=1e-06", "cpu", "abc", "1"}, true};
  write_passkey(table, items, run);
  const std::string tail = "\tequidistant\t5\t0\tyes\t7\tf32\teps=1e-06\tcpu\tabc\t1\t";
  CHECK(sink.bytes() == "512\t500\t0.0000\t30\t1\t1\t1.0000\t0.2065\t1.0000\t0.200000\t100\t0.2500" + tail + "0.250\n" +
                            "512\t500\t0.5000\t260\t2\t1\t0.5000\t0.0945\t0.9055\t0.200000\t200\t0.2500" + tail +
                            "0.500\n" + "512\t500\tall\t\t3\t2\t0.6667\t0.2077\t0.9385\t0.200000\t300\t0.2500" + tail +
                            "0.750\n");
  io::MemorySink item_sink;
  run.with_times = false;
  io::TableWriter item_table(item_sink, io::TableFormat::tsv, passkey_item_columns(false), false);
  write_passkey_items(item_table, {items[1]}, run);
  CHECK(item_sink.bytes() ==
        "512\t1\t500\t0.5\t260\t12345\t0\t1\t5\t100\t0.25\tequidistant\t5\t0\tyes\t7\tf32\teps=1e-06\tcpu\tabc\t1\n");
}

TEST_CASE("passkey: a dumped prompt holds text and ids") {
  const auto tokenizer = text::make_bytes_tokenizer();
  const PasskeyPrompt prompt = PasskeyPrompts(*tokenizer, {.digits = 2, .prefix_digits = 1, .samples = 1}).make(600, 0);
  const std::string line = dump_prompt(prompt, *tokenizer);
  CHECK(is_one_line(line));
  CHECK(contains(line, "{\"length\":600,\"sample\":0,\"real_length\":"));
  CHECK(contains(line, "\"key\":\"" + prompt.key + "\",\"prompt\":\"There is an important info"));
  CHECK(contains(line, "\"prompt_ids\":[256,84,104,"));
  CHECK(contains(line, "\"given_ids\":[32," + std::to_string(int{prompt.key[0]}) + "],\"scored_ids\":[" +
                           std::to_string(int{prompt.key[1]}) + "," + std::to_string(int{prompt.key[2]}) + "]}"));
}

TEST_CASE("passkey: how far a run is shows within a prompt too") {
  const TinyModel tiny = uniform_model();
  const PasskeyTask task{.samples = 2};
  const PasskeyPrompts prompts(*tiny.loaded.tokenizer, task);
  PasskeyOptions options;
  options.chunk = 100;
  std::vector<std::pair<Index, Index>> seen;
  const auto items = run_passkey(*tiny.loaded.model, prompts, 700, first_samples(2), options,
                                 [&](Index samples, Index tokens) { seen.emplace_back(samples, tokens); });
  std::vector<std::pair<Index, Index>> expected;
  const std::vector<text::Token> first = prompts.make(700, 0).ids;
  for (Index sample = 0; sample < 2; ++sample) {
    const PasskeyPrompt prompt = prompts.make(700, sample);
    const Index tokens = std::ssize(prompt.ids) - 1;
    CHECK(items[static_cast<std::size_t>(sample)].read_tokens == tokens);
    const auto alike = std::mismatch(first.begin(), first.end(), prompt.ids.begin(), prompt.ids.end()).first;
    const Index kept = sample == 0 ? 0 : (alike - first.begin()) / 100 * 100;  // whole chunks
    if (sample == 1) CHECK(kept > 0);
    for (Index read = kept; read < tokens;) {
      read = std::min(read + 100, tokens);
      expected.emplace_back(sample, read);
    }
    expected.emplace_back(sample + 1, 0);
  }
  CHECK(seen == expected);
}
