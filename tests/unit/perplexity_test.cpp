// boxes: eval model text io kernels base
#include "eval/perplexity.h"

#include <simdjson.h>

#include <cmath>
#include <limits>

#include "io/atomic_file.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

void write_shard(const std::string& path, const std::vector<text::Token>& ids) {
  io::OutputFile file(path);
  io::ShardWriter writer(file, text::shard_header(*text::make_bytes_tokenizer()), {});
  writer.append(ids);
  writer.finish();
  file.commit();
}

PerplexityResult evaluate(const TinyModel& tiny, const std::string& path, const PerplexityOptions& options,
                          BosUse bos = BosUse::automatic, Index max_tokens = 0) {
  TokenSource source(tiny.loaded, {{path}, {}, bos, max_tokens});
  return evaluate_perplexity(tiny.loaded, source, options, kUnlimited);
}

// 256, then `count` ids that go up by one and start again at 256.
std::vector<text::Token> rising_ids(std::size_t count) {
  std::vector<text::Token> ids = {256};
  while (ids.size() <= count) ids.push_back((ids.back() + 1) % 257);
  return ids;
}

}  // namespace

TEST_CASE("perplexity: windows by position are those of training") {
  const WindowRule rule{.context = 4, .stride = 0};
  using Windows = std::vector<TokenWindow>;
  CHECK(windows_of(rule, 4).empty());
  CHECK(windows_of(rule, 5) == Windows{{0, 1, 5}});
  CHECK(windows_of(rule, 8) == Windows{{0, 1, 5}});
  CHECK(windows_of(rule, 9) == Windows{{0, 1, 5}, {4, 5, 9}});
}

TEST_CASE("perplexity: sliding windows of 4 over 10 ids, by hand") {
  using Windows = std::vector<TokenWindow>;
  const auto slide = [](Index stride) { return windows_of({.context = 4, .stride = stride}, 10); };
  CHECK(slide(4) == Windows{{0, 1, 4}, {3, 4, 8}, {7, 8, 10}});
  CHECK(slide(3) == Windows{{0, 1, 4}, {3, 4, 7}, {6, 7, 10}});
  CHECK(slide(2) == Windows{{0, 1, 4}, {2, 4, 6}, {4, 6, 8}, {6, 8, 10}});
  CHECK(slide(1) == Windows{{0, 1, 4}, {1, 4, 5}, {2, 5, 6}, {3, 6, 7}, {4, 7, 8}, {5, 8, 9}, {6, 9, 10}});
  CHECK(windows_of({.context = 4, .stride = 2}, 1).empty());
  CHECK(windows_of({.context = 4, .stride = 2}, 3) == Windows{{0, 1, 3}});
}

TEST_CASE("perplexity: sliding windows score every id but the first once, with enough before it") {
  for (Index context = 2; context <= 9; ++context) {
    for (Index stride = 1; stride <= context; ++stride) {
      for (Index tokens = 2; tokens <= 40; ++tokens) {
        Index next = 1;
        for (const TokenWindow& window : windows_of({.context = context, .stride = stride}, tokens)) {
          REQUIRE(window.first_scored == next);
          REQUIRE(window.end > window.first_scored);
          REQUIRE(window.end - 1 - window.begin <= context);
          REQUIRE(window.first_scored - window.begin >= std::max<Index>(1, std::min(next, context - stride)));
          next = window.end;
        }
        REQUIRE(next == tokens);
      }
    }
  }
}

TEST_CASE("perplexity: sliding windows are those of the Hugging Face recipe") {
  simdjson::dom::parser parser;
  int compared = 0;
  for (simdjson::dom::element line : parser.load_many("tests/data/eval/hf-strided-windows.golden.jsonl")) {
    const Index context = line["max_length"].get_int64();
    const Index stride = line["stride"].get_int64();
    if (stride == context) continue;  // there, a window's first id is never scored
    const std::vector<TokenWindow> windows = windows_of({context, stride}, line["n_tokens"].get_int64());
    std::size_t k = 0;
    for (simdjson::dom::element expected : simdjson::dom::array(line["windows"])) {
      REQUIRE(k < windows.size());
      CHECK(windows[k].begin == expected["begin"].get_int64().value());
      CHECK(windows[k].end == expected["end"].get_int64().value());
      CHECK(windows[k].first_scored == expected["scored_token_indices"].at(0).get_int64().value());
      ++k;
    }
    CHECK(k == windows.size());
    ++compared;
  }
  CHECK(compared >= 3);
}

TEST_CASE("perplexity: of a model that knows nothing it is the vocabulary, in every bin") {
  ScratchFolder folder;
  write_shard(folder / "a.tok.zst", rising_ids(100));
  const TinyModel tiny = uniform_model();
  const PerplexityResult result = evaluate(tiny, folder / "a.tok.zst", {.rule = {.context = 8}, .bin = 3});
  REQUIRE(result.bins.size() == 3);
  CHECK(result.bins[2].from == 7);
  CHECK(result.bins[2].to == 8);
  CHECK(result.all.nll_nats.count() == 96);
  CHECK(result.all.nll_nats.groups() == 12);
  CHECK(result.bins[0].nll_nats.count() == 36);
  CHECK(result.bins[2].nll_nats.count() == 24);
  CHECK(result.left_out == 4);
  CHECK(std::exp(result.all.nll_nats.mean()) == Approx(257).epsilon(1e-5));
  for (const PerplexityBin& bin : result.bins) {
    CHECK(std::exp(bin.nll_nats.mean()) == Approx(257).epsilon(1e-5));
    CHECK(bin.nll_nats.standard_error().value() < 1e-6);
  }
}

TEST_CASE("perplexity: of a model that always knows the next id it is 1") {
  ScratchFolder folder;
  write_shard(folder / "a.tok.zst", rising_ids(700));
  const TinyModel tiny = successor_model(next_ids());
  const WindowRule rules[] = {
      {.context = 8}, {.context = 8, .stride = 3}, {.context = 8, .stride = 8}, {.context = 600}};
  for (const WindowRule& rule : rules) {
    const PerplexityResult result = evaluate(tiny, folder / "a.tok.zst", {.rule = rule, .bin = 8});
    CHECK(std::exp(result.all.nll_nats.mean()) == Approx(1).margin(1e-6));
    if (rule.slides()) CHECK(result.all.nll_nats.count() == 700);
  }
  // Scored one id off, the same model would be certain of the wrong ids.
  const TinyModel shifted = successor_model([] {
    std::vector<std::int32_t> next = next_ids();
    for (std::int32_t& id : next) id = (id + 1) % 257;
    return next;
  }());
  CHECK(evaluate(shifted, folder / "a.tok.zst", {.rule = {.context = 8}, .bin = 8}).all.nll_nats.mean() > 20);
}

TEST_CASE("perplexity: bytes are those of the scored text") {
  ScratchFolder folder;
  spit(folder / "a.txt", "a text of bytes \xff\xc3\xa9");
  const TinyModel tiny = uniform_model();
  const PerplexityResult result = evaluate(tiny, folder / "a.txt", {.rule = {.context = 8, .stride = 4}});
  CHECK(result.all.nll_nats.count() == 19);
  CHECK(result.all.bytes.value() == 19);
  // BOS is an id that stands for no byte.
  spit(folder / "lines.jsonl", "{\"text\":\"ab\"}\n{\"text\":\"\"}\n{\"text\":\"cd\"}\n");
  CHECK(evaluate(tiny, folder / "lines.jsonl", {.rule = {.context = 8, .stride = 4}}).all.nll_nats.count() == 5);
  CHECK(evaluate(tiny, folder / "lines.jsonl", {.rule = {.context = 8, .stride = 4}}).all.bytes.value() == 4);
  const PerplexityResult joined =
      evaluate(tiny, folder / "lines.jsonl", {.rule = {.context = 8, .stride = 4}}, BosUse::no);
  CHECK(joined.all.nll_nats.count() == 3);
  CHECK(joined.all.bytes.value() == 3);
}

TEST_CASE("perplexity: bytes of SentencePiece ids, with blanks and bytes that are parts of characters") {
  for (const char* name : {"bytefallback", "noprefix", "nfkc"}) {
    const auto tokenizer = text::open_tokenizer(std::string("tests/data/tokenizers/spm-bpe-1k-") + name + ".model");
    if (!tokenizer->lossless()) continue;
    const ByteCounts count(*tokenizer);
    for (const std::string text : {"The house by the sea", "  two blanks", "\xe4\xbd\xa0\xf0\x9f\x98\x80!", "x"}) {
      std::vector<text::Token> ids;
      text::encode_document(*tokenizer, text, ids);
      Index bytes = 0;
      for (std::size_t i = 1; i < ids.size(); ++i) bytes += count(ids[i], ids[i - 1]);
      INFO(name << ": " << text);
      CHECK(bytes == static_cast<Index>(text.size()));
    }
  }
}

TEST_CASE("perplexity: sources are shards, text and several of both, up to a number of ids") {
  ScratchFolder folder;
  write_shard(folder / "a.tok.zst", {256, 97, 98});
  spit(folder / "b.txt", "cd");
  const TinyModel tiny = uniform_model();
  TokenSource source(tiny.loaded, {{folder / "a.tok.zst", folder / "b.txt", folder / "a.tok.zst"}, {}, {}, 0});
  std::vector<text::Token> ids(20);
  ids.resize(static_cast<std::size_t>(source.read(ids)));
  CHECK(ids == std::vector<text::Token>{256, 97, 98, 256, 99, 100, 256, 97, 98});
  CHECK(source.tokens() == 9);
  TokenSource limited(tiny.loaded, {{folder / "a.tok.zst", folder / "b.txt"}, {}, BosUse::no, 3});
  ids.resize(20);
  ids.resize(static_cast<std::size_t>(limited.read(ids)));
  CHECK(ids == std::vector<text::Token>{97, 98, 99});
}

TEST_CASE("perplexity: bad inputs end in one line") {
  ScratchFolder folder;
  const TinyModel tiny = uniform_model();
  const auto error = [&](const std::string& path, const PerplexityOptions& options) {
    return error_of([&] { evaluate(tiny, path, options); });
  };
  spit(folder / "empty", "");
  CHECK(contains(error(folder / "empty", {.rule = {.context = 4}, .bin = 4}), "empty: empty, expected"));
  spit(folder / "short.txt", "abc");
  CHECK(contains(error(folder / "short.txt", {.rule = {.context = 4}, .bin = 4}),
                 "short.txt: 4 tokens, expected at least 5 (--context 4)"));
  spit(folder / "bad.jsonl", "{\"text\":\"ab\"}\n{\"text\":3}\n");
  CHECK(contains(error(folder / "bad.jsonl", {.rule = {.context = 4}, .bin = 4}), "bad.jsonl:2: "));
  io::ShardHeader other = text::shard_header(*text::make_bytes_tokenizer());
  other.vocab_size = 300;
  {
    io::OutputFile file(folder / "other.tok.zst");
    io::ShardWriter writer(file, other, {});
    writer.append(std::vector<text::Token>{256, 1, 2});
    writer.finish();
    file.commit();
  }
  CHECK(contains(error(folder / "other.tok.zst", {.rule = {.context = 4}, .bin = 4}),
                 "other.tok.zst: does not fit the model tiny.h5: vocab_size 300 and 257"));
  TokenSource source(tiny.loaded, {{folder / "short.txt"}, {}, {}, 0});
  const std::string memory =
      error_of([&] { evaluate_perplexity(tiny.loaded, source, {.rule = {.context = 1'000'000'000}, .bin = 4}, 1e9); });
  CHECK(contains(memory, "--context: 1000000000 tokens take "));
  CHECK(is_one_line(memory));
}

TEST_CASE("perplexity: standard error by window") {
  GroupedMean mean;
  CHECK_FALSE(mean.standard_error());
  mean.add_group(2, 2);
  CHECK_FALSE(mean.standard_error());
  mean.add_group(0, 0);
  mean.add_group(9, 3);
  mean.add_group(4, 1);
  CHECK(mean.groups() == 3);
  CHECK(mean.mean() == Approx(2.5));
  // Residuals sum - mean x count: -3, 1.5, 1.5.
  CHECK(mean.standard_error().value() == Approx(std::sqrt(1.5 * 13.5) / 6));
}

TEST_CASE("perplexity: the table") {
  PerplexityResult result;
  PerplexityBin bin{.from = 1, .to = 2, .nll_nats = {}, .bytes = 4};
  bin.nll_nats.add_group(2 * std::log(2.0), 2);
  result.bins = {bin};
  bin.nll_nats.add_group(2 * std::log(2.0), 2);
  bin.bytes.reset();
  result.all = bin;
  io::MemorySink sink;
  io::TableWriter table(sink, io::TableFormat::tsv, perplexity_columns(true), true);
  write_perplexity(table, result, {{{4, 0}, 2}, "yes", {"3", "f32", "eps=1e-06", "cpu", "abc", "0.1"}, 1.5});
  CHECK(sink.bytes() ==
        "bin\tfrom\tto\ttokens\twindows\tnll\tnll_se\tperplexity\tbits_per_"
        "byte\tbytes\tcontext\tstride\tbos\tseed\tdtype\treading"
        "\tdevice\tmodel\tversion\tseconds\n"
        "1\t1\t2\t2\t1\t0.693147\t\t2.000000\t0.500000\t4\t4\t\tyes\t3\tf32\teps=1e-06\tcpu\tabc\t0.1\t1.500\n"
        "all\t1\t2\t4\t2\t0.693147\t0.000000\t2.000000\t\t\t4\t\tyes\t3\tf32\teps=1e-06\tcpu\tabc\t0.1\t1.500\n");
}

TEST_CASE("perplexity: of a bigram model it is that of the bigrams") {
  // Of the 257 ids behind i, half of the probability has i + 1, the others share the rest.
  const auto log_p = [](std::size_t i, std::size_t j) { return std::log(j == (i + 1) % 257 ? 0.5 : 0.5 / 256); };
  TinyModel tiny = bigram_model(log_p);
  // Large beside the norm's epsilon.
  std::vector<float> embedding = tiny.get("token_embedding");
  for (float& each : embedding) each *= 100;
  tiny.set("token_embedding", embedding);
  ScratchFolder folder;
  std::vector<text::Token> ids;
  for (int k = 0; k < 65; ++k) ids.push_back(static_cast<text::Token>((k * k * 7) % 61));
  double expected = 0;
  for (std::size_t k = 0; k + 1 < ids.size(); ++k) {
    expected -= log_p(static_cast<std::size_t>(ids[k]), static_cast<std::size_t>(ids[k + 1])) / 64;
  }
  write_shard(folder / "a.tok.zst", ids);
  const auto result = evaluate(tiny, folder / "a.tok.zst", {.rule = {.context = 64}, .bin = 16});
  CHECK(result.all.nll_nats.count() == 64);
  CHECK(result.all.nll_nats.mean() == Approx(expected).epsilon(1e-6));
}

TEST_CASE("perplexity: of a model that copies it is 1 from the second time on") {
  const TinyModel tiny = copying_model();
  ScratchFolder folder;
  std::vector<text::Token> ids = {256};
  for (int period = 0; period < 4; ++period) {
    for (const char letter : std::string("hcadgbfe")) ids.push_back(letter);
  }
  write_shard(folder / "a.tok.zst", ids);
  // The letter after the first period is the first whose predecessor was there before.
  const auto result = evaluate(tiny, folder / "a.tok.zst", {.rule = {.context = 32}, .bin = 9});
  REQUIRE(result.bins.size() == 4);
  CHECK(result.bins[0].nll_nats.mean() > 1);
  for (std::size_t bin = 1; bin < 4; ++bin)
    CHECK(std::exp(result.bins[bin].nll_nats.mean()) == Approx(1).epsilon(1e-6));
}

TEST_CASE("perplexity: how far it is shows within a window too, as ids scored") {
  ScratchFolder folder;
  write_shard(folder / "a.tok.zst", rising_ids(100));
  const TinyModel tiny = uniform_model();
  const auto seen = [&](const WindowRule& rule) {
    std::vector<Index> counts;
    TokenSource source(tiny.loaded, {{folder / "a.tok.zst"}, {}, BosUse::automatic, 0});
    evaluate_perplexity(tiny.loaded, source, {.rule = rule, .chunk = 16}, kUnlimited,
                        [&](Index scored) { counts.push_back(scored); });
    return counts;
  };
  // Two windows of 40 ids in chunks of 16, each followed by its own end.
  CHECK(seen({.context = 40}) == std::vector<Index>{16, 32, 40, 40, 56, 72, 80, 80});
  // 101 ids: windows that begin at 0, 30 and 60; the later ones score what lies behind their first ten.
  CHECK(seen({.context = 40, .stride = 30}) ==
        std::vector<Index>{16, 32, 39, 39, 46, 62, 69, 69, 76, 92, 99, 99, 100, 100});
}
