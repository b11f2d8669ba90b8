// boxes: eval model text io kernels base
// Digests are of samples that RULER's algorithm gave under CPython and NumPy.
#include <map>

#include "eval/python_text.h"
#include "eval/ruler_metric.h"
#include "eval/ruler_samples.h"
#include "io/sha256.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

const text::Tokenizer& tokenizer() {
  static const auto pieces = text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
  return *pieces;
}

RulerTask task_of(std::string_view name) {
  for (const RulerTask& task : ruler_tasks()) {
    if (task.name == name) return task;
  }
  throw std::logic_error("no such task");
}

// Needles in noise, so that no list of words has a part in it.
RulerTask noise(NeedlePart key, NeedlePart value, Index keys, Index values, Index queries) {
  RulerTask task = task_of("niah_single_1");
  task.key = key;
  task.value = value;
  task.keys = keys;
  task.values = values;
  task.queries = queries;
  return task;
}

RulerMaterial material() {
  return RulerMaterial({.words = {},
                        .essay = {},
                        .squad = "tests/data/ruler/squad.json",
                        .hotpot = "tests/data/ruler/hotpot.json",
                        .punkt = {}});
}

std::vector<RulerSample> samples_of(const RulerTask& task, Index length, int count, std::uint32_t seed) {
  RulerMaterial made_of = material();
  const auto generator = make_ruler_generator(task, made_of, tokenizer(), length, seed);
  std::vector<RulerSample> samples;
  for (int i = 0; i < count; ++i) samples.push_back(generator->next());
  return samples;
}

std::string digest(const RulerTask& task, Index length, int count, std::uint32_t seed) {
  std::string lines;
  for (const RulerSample& sample : samples_of(task, length, count, seed)) lines += sample.json_line() + "\n";
  return io::sha256_hex(lines).substr(0, 16);
}

std::string failure(const RulerTask& task, Index length, std::uint32_t seed = 42) {
  return error_of([&] { samples_of(task, length, 1, seed); });
}

}  // namespace

TEST_CASE("ruler: needles are those of the original") {
  CHECK(digest(task_of("niah_multikey_3"), 1024, 4, 42) == "9054317040449f4b");
  CHECK(digest(task_of("niah_multikey_3"), 5000, 2, 43) == "b43af2e3fa23f4ea");
  CHECK(digest(noise(NeedlePart::uuids, NeedlePart::numbers, 1, 4, 1), 1024, 3, 5) == "8d59ee9b91fa0390");
  CHECK(digest(noise(NeedlePart::uuids, NeedlePart::numbers, 4, 1, 4), 1500, 3, 5) == "3e369fde0fca58c8");
  CHECK(digest(noise(NeedlePart::numbers, NeedlePart::uuids, 4, 1, 1), 1500, 3, 6) == "a8580dd5681e6e96");
}

TEST_CASE("ruler: variables, coded words and questions are those of the original") {
  CHECK(digest(task_of("vt"), 1500, 4, 42) == "1df3ac01400fd8f0");
  CHECK(digest(task_of("vt"), 5000, 2, 4000000000U) == "bfd33f791769c26a");
  CHECK(digest(task_of("fwe"), 1024, 3, 42) == "a226aeb7f319f3c9");
  CHECK(digest(task_of("fwe"), 5000, 2, 7) == "f7434791b49f9632");
  CHECK(digest(task_of("qa_1"), 2048, 4, 42) == "b312ab7a5297f0a2");
  CHECK(digest(task_of("qa_2"), 1500, 4, 42) == "a142f4e0fc77c6a0");
  CHECK(digest(task_of("qa_2"), 6000, 3, 9) == "d9a32dbe9bd06d63");
}

TEST_CASE("ruler: samples of all tasks fit, hold their answers and differ by seed") {
  for (const RulerTask& task : ruler_tasks()) {
    INFO(task.name);
    const Index length = task.haystack == Haystack::essay ? 2500 : 2048;
    const std::vector<RulerSample> samples = samples_of(task, length, 3, 42);
    for (const RulerSample& sample : samples) {
      CHECK(sample.length <= length);
      CHECK(sample.length == std::ssize(tokenizer().encode(sample.input + sample.answer_prefix)) + task.answer_tokens);
      CHECK(sample.length > length / 2);
      CHECK(!sample.outputs.empty());
      if (task.kind == RulerKind::questions) continue;
      for (const std::string& output : sample.outputs) CHECK(contains(sample.input, output));
    }
    CHECK(samples[0].input != samples[1].input);
    CHECK(samples_of(task, length, 1, 42)[0].input == samples[0].input);
    if (task.kind != RulerKind::questions) CHECK(samples_of(task, length, 1, 43)[0].input != samples[0].input);
  }
}

TEST_CASE("ruler: a line is JSON in ASCII, as Python writes it") {
  RulerSample sample{.index = 3,
                     .input = "a\"b\\\n\t\x01\x7F \u00E9 \u20AC \U0001F600 \xFF",
                     .outputs = {"x", "\u00C9"},
                     .length = 12,
                     .answer_prefix = " Answer:",
                     .answer_token = std::nullopt};
  CHECK(
      sample.json_line() ==
      R"({"index": 3, "input": "a\"b\\\n\t\u0001\u007f \u00e9 \u20ac \ud83d\ude00 \ufffd", "outputs": ["x", "\u00c9"], )"
      R"("length": 12, "length_w_model_temp": 12, "answer_prefix": " Answer:"})");
  sample.answer_token = 7;
  CHECK(contains(sample.json_line(), R"(" Answer:", "token_position_answer": 7})"));
}

TEST_CASE("ruler: where the original would never end, ours says why") {
  CHECK(contains(failure(task_of("niah_single_1"), 150), "--lengths: 150 tokens are too few for niah_single_1: "));
  CHECK(contains(failure(task_of("niah_multikey_3"), 600), "would try for ever"));
  CHECK(contains(failure(task_of("vt"), 600), "--lengths: 600 tokens are too few for vt: "));
  CHECK(contains(failure(task_of("cwe"), 600), "--lengths: 600 tokens are too few for cwe: "));
  CHECK(contains(failure(task_of("fwe"), 249), "--lengths: 249 tokens are too few for fwe, expected at least 250"));
  CHECK(contains(failure(task_of("qa_1"), 300), "--lengths: 300 tokens are too few for qa_1: "));
  CHECK(contains(error_of([] { samples_of(task_of("qa_2"), 6000, 7, 1); }), "has 6 questions"));
  RulerMaterial none;
  CHECK(error_of([&] { make_ruler_generator(task_of("qa_1"), none, tokenizer(), 2048, 1); }) ==
        "--tasks: qa_1 needs --squad FILE, which is not given");
}

TEST_CASE("ruler: lists of words") {
  const ScratchFolder folder;
  std::ofstream(folder / "nounlist.txt") << "bee\nknown-ant\nant  \n ox\n";
  std::ofstream(folder / "adjectivelist.txt") << "well\nwell-known\nbig\nbig\n";
  CHECK(contains(error_of([&] { read_word_lists(folder.path()); }), "verblist.txt"));
  std::ofstream(folder / "verblist.txt") << "go";
  const WordLists lists = read_word_lists(folder.path());
  CHECK(lists.nouns == std::vector<std::string>{"bee", "known-ant", "ant", " ox"});
  CHECK(lists.more.empty());
  const KeyNames names(lists);
  std::vector<std::string> all;
  for (Index i = 0; i < names.size(); ++i) all.push_back(names[i]);
  CHECK(all == std::vector<std::string>{"big- ox", "big-ant", "big-bee", "big-known-ant", "well- ox", "well-ant",
                                        "well-bee", "well-known- ox", "well-known-ant", "well-known-bee",
                                        "well-known-known-ant"});
  std::ofstream(folder / "english_words.json") << "version https://git-lfs.github.com/spec/v1\n";
  CHECK(contains(error_of([&] { read_word_lists(folder.path()); }), "Git LFS leaves a pointer"));
  std::ofstream(folder / "english_words.json") << R"({"0": "one", "1": "two"})";
  CHECK(read_word_lists(folder.path()).more == std::vector<std::string>{"one", "two"});
  RulerMaterial made_of({.words = folder.path(), .essay = {}, .squad = {}, .hotpot = {}, .punkt = {}});
  CHECK(contains(error_of([&] { make_ruler_generator(task_of("cwe"), made_of, tokenizer(), 2048, 1); }),
                 "cwe at 2048 tokens tries 20 words, and the lists have 8 and english_words.json 2"));
  CHECK(KeyNames(built_in_words()).size() > 50000);
}

TEST_CASE("ruler: essays of the user, as text and as RULER's JSON") {
  const ScratchFolder folder;
  std::ofstream(folder / "essay.txt") << "One two  three.\nFour \u00A0 five.";
  std::ofstream(folder / "essay.json") << R"({"text": "One two three.\nFour five."})";
  std::ofstream(folder / "empty.txt") << " \n";
  const std::vector<std::string> expected = {"One", "two", "three.", "Four", "five."};
  for (const char* name : {"essay.txt", "essay.json"}) {
    RulerMaterial made_of({.words = {}, .essay = folder / name, .squad = {}, .hotpot = {}, .punkt = {}});
    CHECK(made_of.essay_words() == expected);
  }
  RulerMaterial empty({.words = {}, .essay = folder / "empty.txt", .squad = {}, .hotpot = {}, .punkt = {}});
  CHECK(contains(error_of([&] { empty.essay_words(); }), "empty.txt: empty"));
  CHECK(RulerMaterial().essay_words().size() > 10000);
}

TEST_CASE("ruler: sentences") {
  const auto check = [](std::string_view text, const std::vector<std::string_view>& expected) {
    CHECK(sentences(text) == expected);
  };
  check("", {});
  check("One. Two! Three? four", {"One.", "Two!", "Three? four"});
  check("He met Mr. Smith and J. Brown. \"Well.\" She left (late.) So did I. End.",
        {"He met Mr. Smith and J. Brown.", "\"Well.\"", "She left (late.)", "So did I.", "End."});
  check("It cost 3.50 dollars. 7 men e.g. Tom came", {"It cost 3.50 dollars.", "7 men e.g. Tom came"});
  check("A\u2019s \u201Cword.\u201D \u201CYes.\u201D", {"A\u2019s \u201Cword.\u201D", "\u201CYes.\u201D"});
}

TEST_CASE("ruler: scores as RULER's functions give them") {
  struct Case {
    std::string prediction;
    std::vector<std::string> references;
    double all, part;
  };
  const std::vector<Case> cases = {{" 1234567.", {"1234567"}, 1, 1},
                                   {"The numbers are 111, 222 and 333", {"111", "222", "333", "444"}, 0.75, 1},
                                   {"ABCDE FGHIJ", {"abcde", "XXXXX"}, 0.5, 1},
                                   {"", {"1"}, 0, 0},
                                   {"12345678", {"1234567"}, 1, 1},
                                   {std::string("a\0b\tc", 5), {"b\nc", "c"}, 1, 1},
                                   {"x", {""}, 1, 1},
                                   {" \n 42 \n", {"42"}, 1, 1},
                                   {"\u00DCn\u00EFcode STRASSE", {"\u00FCn\u00EFcode"}, 1, 1},
                                   {"stra\u00DFe", {"STRASSE"}, 0, 0}};
  for (const Case& c : cases) {
    INFO(c.prediction);
    CHECK(ruler_score(RulerMatch::all, c.prediction, c.references) == c.all);
    CHECK(ruler_score(RulerMatch::part, c.prediction, c.references) == c.part);
  }
  CHECK(clean_prediction("\x01 a\x02\u00A0") == "a");
}
