// boxes: eval model text io kernels base
#include "eval/mcq.h"

#include <cmath>
#include <fstream>
#include <numeric>

#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::vector<McqItem> read(McqTask task, const std::string& text, const std::optional<std::string>& labels = {},
                          const std::string& name = "items") {
  const ScratchFolder folder;
  spit(folder / name, text);
  if (labels) spit(folder / "labels", *labels);
  return read_mcq_items(task, {folder / name}, labels ? std::optional(folder / "labels") : std::nullopt);
}

std::string failure(McqTask task, const std::string& text, const std::optional<std::string>& labels = {}) {
  return error_of([&] { read(task, text, labels); });
}

McqItem item(const std::string& prompt, const std::vector<std::string>& choices, Index gold = 0,
             const std::string& subject = "") {
  return {.id = "i", .subject = subject, .prompt = prompt, .choices = choices, .gold = gold};
}

const std::string kArc =
    R"({"id":"A1","question":"Which?","choices":{"text":["one","two","three"],"label":["1","2","3"]},"answerKey":"3"})"
    "\n";

}  // namespace

TEST_CASE("mcq: ARC, in both its forms") {
  const std::vector<McqItem> items = read(
      McqTask::arc_easy,
      kArc + "\n" +
          R"({"id":"A2","question":{"stem":"What?","choices":[{"text":"a","label":"A"},{"text":"b","label":"B"}]},"answerKey":"A"})");
  REQUIRE(items.size() == 2);
  CHECK(items[0] == McqItem{"A1", "", "Question: Which?\nAnswer:", {"one", "two", "three"}, 2});
  CHECK(items[1] == McqItem{"A2", "", "Question: What?\nAnswer:", {"a", "b"}, 0});
}

TEST_CASE("mcq: HellaSwag is cleaned as the harness does it") {
  CHECK(clean_hellaswag("  How to cook [title] Boil [substeps] water.  Then  stir [a] ") ==
        "How to cook. Boil water. Then stir ");
  CHECK(clean_hellaswag("a [b\nc] d ] [e") == "a [b\nc] d ] [e");
  CHECK(clean_hellaswag("    ") == "");
  const std::vector<McqItem> items = read(
      McqTask::hellaswag,
      R"({"ind":24,"activity_label":"Roof","ctx_a":"A man sits.","ctx_b":"he SAYS","endings":["x [y]z","b"],"label":"1"})");
  REQUIRE(items.size() == 1);
  CHECK(items[0] == McqItem{"24", "", "Roof: A man sits. He says", {"x z", "b"}, 1});
  CHECK(contains(
      failure(McqTask::hellaswag, R"({"activity_label":"R","ctx_a":"A","ctx_b":"b","endings":["x","y"],"label":""})"),
      "items:1: item 0: \"label\" is ''"));
}

TEST_CASE("mcq: PIQA, with labels inside or beside") {
  const std::string line = R"({"goal":"To fly","sol1":"jump","sol2":"wait")";
  CHECK(read(McqTask::piqa, line + R"(,"label":1})")[0] ==
        McqItem{"", "", "Question: To fly\nAnswer:", {"jump", "wait"}, 1});
  const std::vector<McqItem> items = read(McqTask::piqa, line + "}\n" + line + "}\n", "1\n0\n");
  CHECK(items[0].gold == 1);
  CHECK(items[1].gold == 0);
  CHECK(
      contains(failure(McqTask::piqa, line + "}\n" + line + "}\n", "1\n"), "items:2: item 1: the file of labels has"));
  CHECK(contains(failure(McqTask::piqa, line + "}\n", "1\n0\n"), "labels: 2 labels, expected one for each of the 1"));
  CHECK(contains(failure(McqTask::piqa, line + "}\n", "2\n"), "labels: label 0 is '2', expected 0 or 1"));
  CHECK(contains(failure(McqTask::piqa, line + "}\n"), "items:1: item 0: no \"label\""));
}

TEST_CASE("mcq: MMLU, as lines of JSON and as published") {
  const McqItem expected{
      "", "abstract_algebra", "Find \"c\", then:\nA. 0\nB. 1,5\nC. 2\nD. \"\nAnswer:", {"A", "B", "C", "D"}, 1};
  CHECK(
      read(
          McqTask::mmlu,
          R"({"question":" Find \"c\", then: ","subject":"abstract_algebra","choices":["0","1,5","2","\""],"answer":1})")
          [0] == expected);
  const std::vector<McqItem> items =
      read(McqTask::mmlu, "\"Find \"\"c\"\", then:\",0,\"1,5\",2,\"\"\"\",B\r\n\"two\nlines\",a,b,c,d,D", {},
           "abstract_algebra_test.csv");
  REQUIRE(items.size() == 2);
  CHECK(items[0] == expected);
  CHECK(items[1].prompt == "two\nlines\nA. a\nB. b\nC. c\nD. d\nAnswer:");
  CHECK(items[1].gold == 3);
  CHECK(contains(failure(McqTask::mmlu, "q,a,b,c,d,A\nq,a,b\n"), "items:2: item 1: 3 fields"));
  CHECK(contains(failure(McqTask::mmlu, "q,a,b,c,d,E\n"), "items:1: item 0: the answer 'E' is none of A to D"));
  CHECK(contains(failure(McqTask::mmlu, "\"q,a,b,c,d,E\n"), "a quote that is never closed"));
  CHECK(mcq_description(McqTask::mmlu, "high_school_physics") ==
        "The following are multiple choice questions (with answers) about high school physics.\n\n");
}

TEST_CASE("mcq: bad items are named by their number") {
  const auto arc = [](const std::string& line) { return failure(McqTask::arc_easy, kArc + line); };
  CHECK(contains(arc("{\"id\":\n"), "items:2: item 1: not valid JSON"));
  CHECK(contains(arc("[]\n"), "items:2: item 1: not a JSON object"));
  CHECK(contains(arc("\n{}\n"), "items:3: item 1: no \"question\""));
  CHECK(contains(arc(R"({"question":"Q","choices":{"text":["a","b"],"label":["A","B"]},"answerKey":"C"})"),
                 "items:2: item 1: \"answerKey\" 'C' is no label"));
  CHECK(contains(arc(R"({"question":"Q","choices":{"text":["a",""],"label":["A","B"]},"answerKey":"A"})"),
                 "item 1: an empty choice"));
  CHECK(contains(arc(R"({"question":"Q","choices":{"text":["a"],"label":["A"]},"answerKey":"A"})"),
                 "item 1: 1 choices, expected two or more"));
  CHECK(contains(arc(R"({"question":"Q","choices":{"text":["a",1],"label":["A","B"]},"answerKey":"A"})"),
                 "\"text\" is not a text"));
  CHECK(contains(failure(McqTask::mmlu, R"({"question":"Q","subject":"s","choices":["a","b","c","d"],"answer":4})"),
                 "item 0: the answer is choice 4, expected 0 to 3"));
  CHECK(contains(failure(McqTask::arc_easy, "Question,a,b\n"), "items: not JSON lines"));
  CHECK(contains(failure(McqTask::arc_easy, ""), "items: "));
  CHECK(contains(failure(McqTask::arc_easy, "{"), "item 0: not valid JSON"));
}

TEST_CASE("mcq: examples are drawn as the harness draws them") {
  std::vector<McqItem> pool;
  for (char i = '0'; i <= '9'; ++i) pool.push_back(item({'q', i}, {{'a', i}, "-"}));
  const std::vector<McqItem> asked = {item("x", {"1", "2"}), pool[0], pool[1]};
  // random.Random(1234).sample(range(10), 2) three times: 7 1, 0 1, 9 0.
  const std::vector<std::string> prompts = McqShots(McqTask::arc_easy, 2, pool, false, 1234).prompts(asked);
  CHECK(prompts[0] == "q7 a7\n\nq1 a1\n\nx");
  CHECK(prompts[1] == "q0 a0\n\nq1 a1\n\nq0");
  CHECK(prompts[2] == "q9 a9\n\nq0 a0\n\nq1");
  // From the items themselves one more is drawn, and the item left out.
  for (const std::string& prompt : McqShots(McqTask::arc_easy, 3, pool, true, 1234).prompts(pool)) {
    CHECK(std::count(prompt.begin(), prompt.end(), 'q') == 4);
    const std::string own = prompt.substr(prompt.rfind('q'));
    CHECK(prompt.find(own + " ") == std::string::npos);
  }
  CHECK(McqShots(McqTask::arc_easy, 0, pool, true, 1).prompts(pool)[3] == "q3");
  const std::vector<McqItem> copies = {pool[0], pool[0], pool[0], pool[1], pool[2]};
  for (const std::string& prompt : McqShots(McqTask::arc_easy, 2, copies, true, 1).prompts({pool[0], pool[0]})) {
    CHECK((prompt == "q1 a1\n\nq2 a2\n\nq0" || prompt == "q2 a2\n\nq1 a1\n\nq0"));
  }
  CHECK(contains(error_of([&] { McqShots(McqTask::piqa, 10, pool, true, 1).prompts(pool); }),
                 "--shots: 10 examples are asked for and 10 are there"));

  const std::vector<McqItem> dev = {item("d1", {"A", "B"}, 1, "s"), item("d2", {"A", "B"}, 0, "t"),
                                    item("d3", {"A", "B"}, 0, "s"), item("d4", {"A", "B"}, 0, "s")};
  CHECK(McqShots(McqTask::mmlu, 2, dev, false, 1).prompts({item("x", {"A", "B"}, 0, "s")})[0] ==
        mcq_description(McqTask::mmlu, "s") + "d1 B\n\nd3 A\n\nx");
  CHECK(contains(error_of([&] {
                   McqShots(McqTask::mmlu, 2, dev, false, 1).prompts({item("x", {"A", "B"}, 0, "t")});
                 }),
                 "--shots: 2 examples of t are asked for and 1 are there"));
}

TEST_CASE("mcq: a uniform model finds the shortest choice likely, and ties go to the first") {
  const TinyModel tiny = uniform_model();
  McqScorer scorer(tiny.loaded, {.memory_bytes = 1e9});
  const double each = std::log(257.0);
  const McqAnswer answer = scorer.answer(item("ask", {"four", "two", "one", "\u00E9\u00E9\u00E9"}), "ask");
  REQUIRE(answer.log_likelihoods.size() == 4);
  CHECK(answer.log_likelihoods[0] == Approx(-5 * each));  // the blank and four bytes
  CHECK(answer.log_likelihoods[1] == Approx(-4 * each));
  CHECK(answer.log_likelihoods[3] == Approx(-7 * each));
  CHECK(answer.by_sum == 1);
  CHECK(answer.is_tied);
  CHECK(answer.by_characters == 0);  // 5/4 of a token a character, against 4/3 and 7/3
  CHECK(answer.by_bytes == 3);       // 7/6 a byte
  CHECK_FALSE(answer.shares_token);
  CHECK(answer.cut == 0);
  CHECK_FALSE(scorer.answer(item("ask", {"a", "bb"}), "ask").is_tied);
}

// Behind an "a" comes a blank, then each next byte: " !\"#$%".
TinyModel counting_model() {
  std::vector<std::int32_t> next = next_ids();
  next['a'] = ' ';
  return successor_model(next);
}

TEST_CASE("mcq: a model that counts finds the choice that counts") {
  const TinyModel tiny = counting_model();
  McqScorer scorer(tiny.loaded, {.memory_bytes = 1e9});
  const McqAnswer answer = scorer.answer(item("xa", {"x", "!\"#", "!\"$"}), "xa");
  CHECK(answer.by_sum == 1);
  CHECK(answer.log_likelihoods[1] == Approx(0).margin(1e-6));
  CHECK(answer.log_likelihoods[0] < -5);
  CHECK_FALSE(answer.is_tied);
  // A blank at the end of the prompt is scored with the choice.
  CHECK(scorer.answer(item("", {"!"}), "x a \n").log_likelihoods[0] < -5);
  CHECK(scorer.answer(item("", {"\"#"}), "!").log_likelihoods[0] < -5);
}

TEST_CASE("mcq: choices go on from their common prompt, as if each were read alone") {
  const TinyModel tiny = random_model();
  McqScorer together(tiny.loaded, {.chunk = 16, .memory_bytes = 1e9});
  const McqItem asked = item("What goes on four legs in the morning? ", {"a man", "a mouse", "b"}, 0);
  const McqAnswer first = together.answer(asked, asked.prompt);
  const McqAnswer again = together.answer(asked, asked.prompt);
  for (std::size_t i = 0; i < 3; ++i) {
    McqScorer alone(tiny.loaded, {.memory_bytes = 1e9});
    const McqAnswer single = alone.answer(item("", {asked.choices[i]}), asked.prompt);
    CHECK(first.log_likelihoods[i] == Approx(single.log_likelihoods[0]).margin(1e-4));
    CHECK(again.log_likelihoods[i] == Approx(single.log_likelihoods[0]).margin(1e-4));
  }
  CHECK(again.read == first.read);
}

TEST_CASE("mcq: long texts are cut from the left") {
  const TinyModel tiny = counting_model();
  McqScorer cut(tiny.loaded, {.context = 4, .memory_bytes = 1e9});
  const McqAnswer answer = cut.answer(item("", {"!\"", "!\"#$%&"}), "bcdefgha");
  CHECK(answer.cut == 11);  // BOS, eight bytes, a blank and six, cut to five
  CHECK(answer.log_likelihoods[0] == Approx(0).margin(1e-6));
  CHECK(answer.log_likelihoods[1] == Approx(0).margin(1e-6));
}

TEST_CASE("mcq: the tokens behind the prompt's are scored") {
  const auto tokenizer = text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
  ModelConfig config = tiny_config();
  config.vocab = tokenizer->vocab_size();
  TinyModel tiny = random_model(config);
  tiny.set("lm_head", std::vector<float>(static_cast<std::size_t>(config.vocab * config.dim), 0.0F));
  tiny.loaded.tokenizer = text::open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
  McqScorer scorer(tiny.loaded, {.memory_bytes = 1e9});
  const McqAnswer answer = scorer.answer(item("", {"A", "the house"}), "Answer:");
  const auto expected = [&](const std::string& whole) {
    const Index count = std::ssize(tokenizer->encode(whole)) - std::ssize(tokenizer->encode("Answer:"));
    return -static_cast<double>(count) * std::log(static_cast<double>(config.vocab));
  };
  CHECK(answer.log_likelihoods[0] == Approx(expected("Answer: A")));
  CHECK(answer.log_likelihoods[1] == Approx(expected("Answer: the house")));
  CHECK_FALSE(answer.shares_token);
}

TEST_CASE("mcq: BOS, and prompts without text") {
  const TinyModel tiny = random_model();
  McqScorer with(tiny.loaded, {.memory_bytes = 1e9});
  McqScorer without(tiny.loaded, {.bos = BosUse::no, .memory_bytes = 1e9});
  const McqItem asked = item("", {"yes", "no"});
  CHECK(with.answer(asked, "Is it?").log_likelihoods[0] != without.answer(asked, "Is it?").log_likelihoods[0]);
  CHECK(with.answer(asked, "").log_likelihoods[0] == Approx(without.answer(asked, "").log_likelihoods[0]));
  McqScorer small(tiny.loaded, {.memory_bytes = 1000});
  CHECK(contains(error_of([&] { small.answer(asked, "Is it?"); }), "the prompt: 16 tokens take "));
}

TEST_CASE("mcq: the table, with standard errors as the harness has them") {
  const McqRun run{"mmlu", "0", "yes", "none", {"0", "f32", "0", "cpu", "abc", "1"}};
  std::vector<ItemRow> rows;
  const auto add = [&](const std::string& subject, bool right, bool norm) {
    McqAnswer answer{.log_likelihoods = {-1.5, -2},
                     .by_sum = right ? 1 : 0,
                     .by_characters = norm ? 1 : 0,
                     .by_bytes = 1,
                     .is_tied = !right,
                     .read = 10,
                     .seconds = 0.5};
    rows.push_back(mcq_item_row(item("", {"A", "B"}, 1, subject), std::ssize(rows), answer, run, true));
  };
  for (int i = 0; i < 4; ++i) add("x", i < 3, i < 2);
  for (int i = 0; i < 6; ++i) add("y", i < 1, true);
  io::MemorySink sink;
  io::TableWriter table(sink, io::TableFormat::tsv, mcq_columns(), false);
  write_mcq(table, rows, true);
  // x: sqrt(0.75 0.25 / 3) = 0.25; y: sqrt(1/6 5/6 / 5) = 0.1667; all, pooled over n - 2: sqrt((0.75 + 5/6) / 8 / 10).
  const std::string run_text = "\t0\tyes\tnone\t0\tf32\t0\tcpu\tabc\t1\t";
  CHECK(sink.bytes() ==
        "mmlu\tx\t4\t3\t0.7500\t0.2500\t0.3006\t0.9544\t0.5000\t0.2887\t1.0000\t0.0000\t1\t0\t0\t40" + run_text +
            "2.000\n" + "mmlu\ty\t6\t1\t0.1667\t0.1667\t0.0301\t0.5635\t1.0000\t0.0000\t1.0000\t0.0000\t5\t0\t0\t60" +
            run_text + "3.000\n" +
            "mmlu\tall\t10\t4\t0.4000\t0.1407\t0.1682\t0.6873\t0.8000\t0.1118\t1.0000\t0.0000\t6\t0\t0\t100" +
            run_text + "5.000\n");
  io::MemorySink items;
  io::TableWriter item_table(items, io::TableFormat::tsv, mcq_item_columns(), false);
  write_items(item_table, {rows[0]}, true);
  CHECK(items.bytes() == "mmlu\tx\t0\ti\t1\t[-1.5,-2]\t1\t1\t1\t1\t1\t1\t0\t0\t0\t10" + run_text + "0.500\n");
}
