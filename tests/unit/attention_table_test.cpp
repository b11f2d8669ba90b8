// boxes: eval model text io kernels base
#include "eval/attention_table.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "support/catch.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

std::vector<text::Token> random_ids(std::size_t count) {
  std::vector<text::Token> ids = {256};
  while (ids.size() < count) ids.push_back(static_cast<text::Token>((ids.size() * ids.size() * 31 + 7) % 256));
  return ids;
}

struct Row {
  Index layer, head, query;
  std::vector<double> posterior, position;
};

std::vector<Row> probe(const TinyModel& tiny, const std::vector<text::Token>& ids, const std::vector<Index>& queries,
                       Index chunk) {
  std::vector<Row> rows;
  AttentionProbe reader(tiny.loaded, std::ssize(ids), chunk);
  reader.read(ids, queries, [&](const AttentionRow& row) {
    rows.push_back({row.layer,
                    row.head,
                    row.query,
                    {row.posterior.begin(), row.posterior.end()},
                    {row.position.begin(), row.position.end()}});
  });
  return rows;
}

// Also what is too small for a normal double.
double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

// Rows of the table as cells.
std::vector<std::vector<std::string>> table_of(const TinyModel& tiny, const AttentionText& text,
                                               const AttentionView& view) {
  io::MemorySink sink;
  io::TableWriter writer(sink, io::TableFormat::tsv, attention_columns(view.by, false), false);
  AttentionTable table(writer, text, *tiny.loaded.tokenizer, view, {"0", "f32", "eps=0", "ref", "abc", "1"}, false);
  AttentionProbe reader(tiny.loaded, std::ssize(text.ids), 16);
  reader.choose(view.layers, view.heads);
  reader.read(text.ids, view.queries, [&](const AttentionRow& row) { table.add(row); });
  table.end();
  std::vector<std::vector<std::string>> rows;
  const std::string all = sink.bytes();
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin);
    std::vector<std::string>& cells = rows.emplace_back(1);
    for (const char c : all.substr(begin, end - begin)) {
      if (c == '\t') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    begin = end + 1;
  }
  return rows;
}

AttentionText copied_text() {
  AttentionText text{{256}, 9, 2, "yes"};
  for (int period = 0; period < 3; ++period) {
    for (const char letter : std::string("hcadgbfe")) text.ids.push_back(letter);
  }
  return text;
}

}  // namespace

TEST_CASE("attention table: a model that copies looks one back, then behind where its letter was") {
  const TinyModel tiny = copying_model();
  const AttentionText text = copied_text();
  const AttentionView view{AttentionBy::top, 0, 1, {0, 1}, {0}, {12}};
  const auto rows = table_of(tiny, text, view);
  REQUIRE(rows.size() == 2);
  // layer head query query_token rank key distance attention ... token needle
  CHECK(rows[0][2] == "12");
  CHECK(rows[0][5] == "11");
  CHECK(number(rows[0][7]) == Approx(1).epsilon(1e-6));
  // Position 12 is the fourth letter of the second period, and position 4 that of the first.
  CHECK(rows[1][5] == "5");
  CHECK(rows[1][6] == "7");
  CHECK(number(rows[1][7]) == Approx(1).epsilon(1e-6));
  CHECK(rows[1][10] == "g");
  CHECK(rows[0][11] == "0");
}

TEST_CASE("attention table: by key every visible key is counted once, and the needle's keys are known") {
  const TinyModel tiny = copying_model();
  const AttentionText text = copied_text();
  const auto rows = table_of(tiny, text, {AttentionBy::key, 4, 1, {1}, {0}, {24}});
  REQUIRE(rows.size() == 7);
  Index next = 0;
  double sum = 0;
  Index needle = 0;
  for (const auto& row : rows) {
    CHECK(std::stol(row[3]) == next);
    next = std::stol(row[4]) + 1;
    sum += number(row[5]);
    needle += std::stol(row[9]);
  }
  CHECK(next == 25);
  CHECK(sum == Approx(1).epsilon(1e-6));
  CHECK(needle == 2);
  CHECK(rows[2][9] == "2");
}

TEST_CASE("attention table: by distance bins hold the mean over queries, and sum to one") {
  const TinyModel tiny = copying_model();
  const AttentionText text = copied_text();
  const auto rows = table_of(tiny, text, {AttentionBy::distance, 0, 1, {0, 1}, {0}, {10, 17, 24}});
  std::vector<double> sums(2), uniform(2);
  for (const auto& row : rows) {
    const auto layer = static_cast<std::size_t>(std::stol(row[0]));
    sums[layer] += number(row[4]);
    uniform[layer] += number(row[7]);
    CHECK(row[8] == "3");
    if (row[2] == "1" && layer == 0) CHECK(number(row[4]) == Approx(1).epsilon(1e-6));
  }
  for (std::size_t layer = 0; layer < 2; ++layer) {
    CHECK(sums[layer] == Approx(1).epsilon(1e-5));
    CHECK(uniform[layer] == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("attention table: a probe's rows do not depend on chunks and choices") {
  ModelConfig config = tiny_config();
  config.kv_heads = 2;
  const TinyModel tiny = random_model(config, 1, Products::real, "ref");
  const auto ids = random_ids(40);
  const std::vector<Index> queries = {0, 7, 21, 39};
  const auto whole = probe(tiny, ids, queries, 64);
  const auto chunked = probe(tiny, ids, queries, 8);
  REQUIRE(whole.size() == 2 * 4 * queries.size());
  REQUIRE(chunked.size() == whole.size());
  AttentionProbe some(tiny.loaded, 40, 64);
  some.choose({1}, {1, 3});
  Index seen = 0;
  some.read(ids, queries, [&](const AttentionRow& row) {
    ++seen;
    CHECK(row.layer == 1);
    CHECK((row.head == 1 || row.head == 3));
    for (const Row& other : whole) {
      if (other.layer != row.layer || other.head != row.head || other.query != row.query) continue;
      for (std::size_t t = 0; t < other.posterior.size(); ++t) CHECK(row.posterior[t] == other.posterior[t]);
    }
  });
  CHECK(seen == 8);
  for (const Row& row : whole) {
    for (const Row& other : chunked) {
      if (other.layer != row.layer || other.head != row.head || other.query != row.query) continue;
      REQUIRE(other.posterior.size() == row.posterior.size());
      for (std::size_t t = 0; t < row.posterior.size(); ++t) {
        CHECK(other.posterior[t] == Approx(row.posterior[t]).margin(1e-12));
      }
    }
  }
}

TEST_CASE("attention table: the probe sees what the window leaves, as the model does") {
  TinyModel tiny = random_model(tiny_config(), 1, Products::real, "ref");
  const auto ids = random_ids(30);
  tiny.model().set_reading({.window = 5});
  for (const Row& row : probe(tiny, ids, {2, 4, 29}, 64)) {
    CHECK(std::ssize(row.posterior) == std::min<Index>(5, row.query + 1));
    double sum = 0;
    for (const double each : row.posterior) sum += each;
    CHECK(sum == Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("attention table: weights that are no numbers are told, not shown as attention") {
  TinyModel tiny = random_model();
  std::vector<float> wq = tiny.get("layers/1/wq");
  wq[0] = std::numeric_limits<float>::quiet_NaN();
  tiny.set("layers/1/wq", wq);
  const AttentionText text{random_ids(20), 9, 2, "yes"};
  for (const AttentionBy by : {AttentionBy::key, AttentionBy::distance, AttentionBy::top}) {
    AttentionView view{.by = by, .layers = {0}, .heads = {0}, .queries = {19}};
    CHECK(!table_of(tiny, text, view).empty());
    view.layers = {1};
    CHECK_THROWS_WITH(table_of(tiny, text, view),
                      "the model's attention is not made of numbers: are its weights damaged?");
  }
}
