// boxes: io base
#include "io/table.h"

#include <limits>
#include <stdexcept>

#include "support/catch.h"

using bam::Index;
using namespace bam::io;

namespace {

const std::vector<Column> kColumns = {{"length", ColumnType::integer},
                                      {"loss", ColumnType::real},
                                      {"seconds", ColumnType::real, 2},
                                      {"name", ColumnType::text}};

std::string table(TableFormat format, bool header, const std::vector<std::vector<Cell>>& rows) {
  MemorySink sink;
  TableWriter writer(sink, format, kColumns, header);
  for (const auto& row : rows) writer.row(row);
  return sink.bytes();
}

}  // namespace

TEST_CASE("table: TSV with and without its header row") {
  const std::vector<std::vector<Cell>> rows = {{Index{512}, 0.1, 1.005, "a"}, {Index{-1}, Index{3}, 2.0, ""}};
  CHECK(table(TableFormat::tsv, true, rows) == "length\tloss\tseconds\tname\n512\t0.1\t1.00\ta\n-1\t3\t2.00\t\n");
  CHECK(table(TableFormat::tsv, false, rows) == "512\t0.1\t1.00\ta\n-1\t3\t2.00\t\n");
  CHECK(table(TableFormat::tsv, true, {}) == "length\tloss\tseconds\tname\n");
}

TEST_CASE("table: text cannot break a row or a column") {
  CHECK(table(TableFormat::tsv, false, {{Index{1}, 1.0, 1.0, "a\tb\nc\rd\\e"}}) == "1\t1\t1.00\ta\\tb\\nc\\rd\\\\e\n");
  CHECK(table(TableFormat::jsonl, true, {{Index{1}, 1.0, 1.0, "a\tb\n\"q\""}}) ==
        "{\"length\":1,\"loss\":1,\"seconds\":1.00,\"name\":\"a\\tb\\n\\\"q\\\"\"}\n");
}

TEST_CASE("table: missing values and numbers that are not finite") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Cell missing;
  CHECK(table(TableFormat::tsv, false, {{missing, missing, nan, missing}, {Index{1}, inf, -inf, "x"}}) ==
        "\t\tnan\t\n1\tinf\t-inf\tx\n");
  CHECK(table(TableFormat::jsonl, false, {{missing, nan, inf, missing}}) ==
        "{\"length\":null,\"loss\":null,\"seconds\":null,\"name\":null}\n");
}

TEST_CASE("table: real numbers read back, fixed ones hold the largest double") {
  const double third = 1.0 / 3.0;
  const std::string line = table(TableFormat::tsv, false, {{Index{1}, third, 1.7976931348623157e308, "x"}});
  CHECK(std::stod(line.substr(2)) == third);
  CHECK(line.find(".00\tx\n") != std::string::npos);
}

TEST_CASE("table: rows that do not fit the columns are refused") {
  MemorySink sink;
  TableWriter writer(sink, TableFormat::tsv, kColumns, false);
  CHECK_THROWS_AS(writer.row({Index{1}}), std::logic_error);
  CHECK_THROWS_AS(writer.row({1.5, 1.0, 1.0, "x"}), std::logic_error);
  CHECK_THROWS_AS(writer.row({Index{1}, "1.0", 1.0, "x"}), std::logic_error);
  CHECK_THROWS_AS(writer.row({Index{1}, 1.0, 1.0, Index{1}}), std::logic_error);
  CHECK(sink.bytes().empty());
}
