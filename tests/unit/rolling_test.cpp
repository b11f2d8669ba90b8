// boxes: eval model text io kernels base
#include "eval/rolling.h"

#include <cmath>
#include <numbers>

#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::vector<RollingDocument> roll(const TinyModel& tiny, const std::string& text, Index context,
                                  text::InputFormat format = text::InputFormat::text, Share share = {}) {
  const ScratchFolder folder;
  spit(folder / "file", text);
  RollingOptions options{.context = context, .memory_bytes = 1e9, .share = share, .input = {}};
  options.input.format = format;
  std::vector<RollingDocument> documents;
  evaluate_rolling(tiny.loaded, {folder / "file"}, options,
                   [&](const RollingDocument& document) { documents.push_back(document); });
  return documents;
}

// Windows as the harness lists them: what is read, what is scored; 0 is the id in front.
using Lists = std::vector<std::pair<std::vector<int>, std::vector<int>>>;
Lists lists(Index tokens, Index context) {
  Lists all;
  const auto ids = [](Index begin, Index end) {
    std::vector<int> some;
    for (Index i = begin; i < end; ++i) some.push_back(i == 0 ? 0 : static_cast<int>(99 + i));
    return some;
  };
  for (const TokenWindow& window : rolling_windows(tokens, context)) {
    all.push_back({ids(window.begin, window.first_scored), ids(window.first_scored, window.end)});
  }
  return all;
}

}  // namespace

TEST_CASE("rolling: windows are those of the harness, made disjoint") {
  CHECK(lists(0, 4).empty());
  CHECK(lists(1, 4) == Lists{{{0}, {100}}});
  CHECK(lists(4, 4) == Lists{{{0}, {100, 101, 102, 103}}});
  CHECK(lists(5, 4) == Lists{{{0}, {100, 101, 102, 103}}, {{100, 101, 102, 103}, {104}}});
  CHECK(lists(8, 4) == Lists{{{0}, {100, 101, 102, 103}}, {{103}, {104, 105, 106, 107}}});
  CHECK(lists(10, 4) ==
        Lists{{{0}, {100, 101, 102, 103}}, {{103}, {104, 105, 106, 107}}, {{105, 106, 107}, {108, 109}}});
  CHECK(lists(10, 5) == Lists{{{0}, {100, 101, 102, 103, 104}}, {{104}, {105, 106, 107, 108, 109}}});
}

TEST_CASE("rolling: a uniform model has the vocabulary's size as its perplexity") {
  const TinyModel tiny = uniform_model();
  const std::vector<RollingDocument> documents =
      roll(tiny, "one two\nthree\n\n four  five \n", 5, text::InputFormat::lines);
  REQUIRE(documents.size() == 4);
  CHECK(documents[0].tokens == 7);
  CHECK(documents[0].windows == 2);
  CHECK(documents[0].nll_nats == Approx(7 * std::log(257.0)));
  CHECK(documents[1].words == 1);
  CHECK(documents[2].tokens == 0);
  CHECK(documents[2].words == 1);  // re.split gives one piece of nothing
  CHECK(documents[3].words == 4);  // and one at each end
  CHECK(documents[3].bytes == 12);
  const std::vector<RollingDocument> whole = roll(tiny, "one two\nthree\n", 100);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].words == 4);
  CHECK(whole[0].bytes == 14);
}

TEST_CASE("rolling: every token is scored with what its window holds before it") {
  // Behind BOS comes 0, and each byte is followed by the next: no window breaks the chain.
  const TinyModel tiny = successor_model(next_ids());
  std::string text;
  for (int i = 1; i < 100; ++i) text += static_cast<char>(i % 128);
  for (const Index context : {3, 7, 64, 200}) {
    const std::vector<RollingDocument> documents = roll(tiny, text, context);
    // 1 is not what follows BOS, and all else is as expected.
    CHECK(documents[0].nll_nats == Approx(10 * std::sqrt(288.0)).epsilon(2e-3));
    CHECK(documents[0].windows == (99 + context - 1) / context);
  }
}

TEST_CASE("rolling: shares and JSON lines; shards and bad records are refused") {
  const TinyModel tiny = uniform_model();
  const auto numbers = [&](Share share) {
    std::vector<Index> all;
    for (const RollingDocument& each : roll(tiny, "a\nb\nc\nd\ne\n", 8, text::InputFormat::lines, share)) {
      all.push_back(each.number);
    }
    return all;
  };
  CHECK(numbers({1, 2}) == std::vector<Index>{0, 2, 4});
  CHECK(numbers({2, 2}) == std::vector<Index>{1, 3});
  CHECK(roll(tiny, "{\"text\":\"abc\"}\n", 8, text::InputFormat::jsonl)[0].tokens == 3);
  CHECK(contains(error_of([&] { roll(tiny, "{\"text\":1}\n", 8, text::InputFormat::jsonl); }), "file:1: "));
  CHECK(contains(error_of([&] { roll(tiny, std::string("\x50\x2A\x4D\x18\x20\0\0\0{", 9), 8); }),
                 "file: token shards, expected text"));
  CHECK(contains(error_of([&] { roll(tiny, "abc", Index{1} << 40); }), "--context: "));
}

TEST_CASE("rolling: the table divides sums by sums, with errors by document") {
  const RollingRun run{64, {"0", "f32", "0", "cpu", "abc", "1"}};
  std::vector<ItemRow> rows;
  const auto add = [&](Index tokens, Index words, Index bytes, double nll) {
    rows.push_back(rolling_item_row({std::ssize(rows), tokens, words, bytes, 1, nll, 0.5}, run, true));
  };
  add(10, 4, 20, 20);
  add(20, 8, 40, 52);
  io::MemorySink sink;
  io::TableWriter table(sink, io::TableFormat::tsv, rolling_columns(), false);
  write_rolling(table, rows, true);
  // 72 nats over 12 words and 60 bytes. Errors: sqrt(2 (20 - 24)^2 + 2 (52 - 48)^2) = 8 over the same.
  const auto text = [](double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "\t%.6f", value);
    return std::string(digits);
  };
  const double word = std::exp(6.0);
  const double byte = std::exp(1.2);
  CHECK(sink.bytes() == "2\t30\t12\t60\t2" + text(2.4) + text(8.0 / 30) + text(word) + text(word * 8 / 12) +
                            text(byte) + text(byte * 8 / 60) + text(1.2 / std::numbers::ln2) +
                            text(8.0 / 60 / std::numbers::ln2) + "\t64\tyes\t0\tf32\t0\tcpu\tabc\t1\t1.000\n");
}
