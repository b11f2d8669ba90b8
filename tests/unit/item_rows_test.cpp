// boxes: eval model text io kernels base
#include "eval/item_rows.h"

#include <cstdio>
#include <fstream>

#include "eval/item_file.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

using io::ColumnType;

const std::vector<io::Column> kColumns = {{"task", ColumnType::text},      {"length", ColumnType::integer},
                                          {"sample", ColumnType::integer}, {"score", ColumnType::real},
                                          {"pred", ColumnType::text},      {"seconds", ColumnType::real, 3}};

std::string table(io::TableFormat format, bool header, const std::vector<ItemRow>& rows, bool with_times = true) {
  io::MemorySink sink;
  std::vector<io::Column> columns = kColumns;
  if (!with_times) columns.pop_back();
  io::TableWriter writer(sink, format, columns, header);
  write_items(writer, rows, with_times);
  return sink.bytes();
}

ItemRow row(Index sample, double score, const std::string& pred = "x", const std::string& task = "vt") {
  return {kColumns, {task, Index{512}, sample, score, pred, 0.25}};
}

std::vector<ItemRow> read(const ScratchFolder& folder, const std::string& text) {
  std::ofstream(folder / "t.tsv") << text;
  return read_item_rows({folder / "t.tsv"}, kColumns, {"length"});
}

}  // namespace

TEST_CASE("item_rows: tables are read as they were written") {
  const ScratchFolder folder;
  const std::vector<ItemRow> rows = {row(0, 0.1, "a\tb\\n\n\"\u00E9"), row(1, 1.0 / 3, "")};
  for (const io::TableFormat format : {io::TableFormat::tsv, io::TableFormat::jsonl}) {
    for (const bool header : {true, false}) {
      const std::vector<ItemRow> back = read(folder, table(format, header, rows));
      REQUIRE(back.size() == 2);
      for (std::size_t i = 0; i < 2; ++i) CHECK(back[i].cells() == rows[i].cells());
      const std::vector<ItemRow> untimed = read(folder, table(format, header, rows, false));
      REQUIRE(untimed.size() == 2);
      CHECK(untimed[1].is_missing("seconds"));
      CHECK(untimed[1].real("score") == 1.0 / 3);
    }
  }
  const std::string both = table(io::TableFormat::tsv, true, {rows[0]}) + table(io::TableFormat::tsv, true, {rows[1]}) +
                           table(io::TableFormat::jsonl, true, {rows[0]});
  CHECK(read(folder, both).size() == 3);
  CHECK(read(folder, table(io::TableFormat::tsv, true, {})).empty());
  CHECK(read(folder, "vt\t\t1\t2\tx\t3\n")[0].is_missing("length"));
}

TEST_CASE("item_rows: what is no such table is refused by file and line") {
  const ScratchFolder folder;
  const std::string good = "vt\t512\t1\t0.5\tx\t0.1\n";
  const auto error = [&](const std::string& text) { return error_of([&] { read(folder, text); }); };
  CHECK(error(good) == "no error");
  CHECK(contains(error(good + "vt\t512\t1\n"), "t.tsv:2: 3 columns and not 6"));
  CHECK(contains(error(good + "vt\t512\tone\t0.5\tx\t0.1\n"), "t.tsv:2: 'one' as sample"));
  CHECK(contains(error("vt\t512\t\t0.5\tx\t0.1\n"), "t.tsv:1: no sample"));
  CHECK(contains(error("vt\t512\t1.5\t0.5\tx\t0.1\n"), "'1.5' as sample"));
  CHECK(contains(error("vt\t512\t9223372036854775807\t0.5\tx\t0.1\n"), "t.tsv:1: 9223372036854775807 as sample"));
  CHECK(contains(error("{\"task\":\"vt\",\"length\":1,\"sample\":-9223372036854775808}\n"),
                 "-9223372036854775808 as sample"));
  CHECK(contains(error(good + "vt\t512"), "t.tsv:2: cut short"));
  CHECK(contains(error("{\"task\":\n"), "t.tsv:1: not a JSON object"));
  CHECK(contains(error("{\"task\":\"vt\",\"length\":1,\"sample\":\"a\"}\n"), "a value of another kind as sample"));
  CHECK(contains(error("{\"task\":\"vt\",\"length\":1}\n"), "no sample"));
  CHECK(contains(error_of([&] { read_item_rows({folder / "none"}, kColumns); }), "none"));
}

TEST_CASE("item_rows: groups") {
  std::vector<ItemRow> rows = {row(1, 0, "b"), row(0, 0, "a", "cwe"), row(0, 0, "a")};
  const std::vector<ItemGroup> groups = group_items(rows, {"task", "length"}, "sample");
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].rows.size() == 2);
  CHECK(groups[0].rows[0]->text("pred") == "a");
  CHECK(groups[0].rows[1]->text("pred") == "b");
  CHECK(groups[1].rows[0]->text("task") == "cwe");
  rows.push_back(row(1, 0));
  CHECK(error_of([&] {
          group_items(rows, {"task", "length"}, "sample");
        }) == "task vt, length 512: sample 1 is there twice, expected tables of different shares, each once");
}

TEST_CASE("item_rows: shares are everything, once") {
  for (Index item = 0; item < 20; ++item) {
    int owners = 0;
    for (Index i = 1; i <= 3; ++i) owners += Share{i, 3}.has(item) ? 1 : 0;
    CHECK(owners == 1);
  }
  CHECK(parse_share("2/8").number == 2);
  CHECK(parse_share("1/1").is_whole());
  for (const char* text : {"", "1", "0/2", "3/2", "1/0", "a/2", "1/2/3", "-1/2", " 1/2", "1/"}) {
    CHECK(contains(error_of([&] { parse_share(text); }), "is not a share, expected I/N"));
  }
}

TEST_CASE("item_file: rows are added, and a torn one is cut off") {
  const ScratchFolder folder;
  const std::string path = folder / "items.tsv";
  {
    ItemFile file(path, kColumns, {});
    CHECK(file.rows().empty());
    file.add(row(0, 0.5, "a\nb"));
    CHECK(contains(error_of([&] { ItemFile(path, kColumns, {}); }), "another process is adding to it"));
  }
  const std::string whole = slurp(path);
  std::ofstream(path, std::ios::app) << "vt\t512\t1\t0.";
  {
    ItemFile file(path, kColumns, {});
    REQUIRE(file.rows().size() == 1);
    CHECK(file.rows()[0].text("pred") == "a\nb");
    CHECK(slurp(path) == whole);
    file.add(row(1, 1));
    CHECK(file.rows().size() == 2);
  }
  CHECK(ItemFile(path, kColumns, {}).rows().size() == 2);
  std::ofstream(folder / "torn") << "task\tlen";
  CHECK(ItemFile(folder / "torn", kColumns, {}).rows().empty());
  std::ofstream(folder / "other") << "a\tb\n";
  // What is another file stays as it is.
  for (const std::string text : {"a\tb\n", "a\tb\nc", "no line feed", "task\tlength\n\0\1", "\x89HDF\r\n\x1a\n..."}) {
    std::ofstream(folder / "other") << text;
    CHECK(contains(error_of([&] { ItemFile(folder / "other", kColumns, {}); }), "other:1: "));
    CHECK(slurp(folder / "other") == text);
  }
  CHECK(contains(error_of([&] { ItemFile(folder.path(), kColumns, {}); }), "cannot open"));
  CHECK(contains(error_of([&] { ItemFile("/dev/null", kColumns, {}); }), "not a file"));
}
