// boxes: base
#include "base/selection.h"

#include "base/error.h"
#include "support/catch.h"

using namespace bam;

namespace {

std::vector<Index> chosen(const std::vector<std::string>& texts, Index size) {
  Selection selection;
  for (const std::string& text : texts) selection.push_back(parse_places(text));
  return chosen_places(selection, size, "--head", "heads");
}

}  // namespace

TEST_CASE("selection: places, ranges, steps and the end, each once and in order") {
  using Places = std::vector<Index>;
  CHECK(chosen({"all"}, 3) == Places{0, 1, 2});
  CHECK(chosen({"-1", "0", "0"}, 3) == Places{0, 2});
  CHECK(chosen({"2..4"}, 8) == Places{2, 3, 4});
  CHECK(chosen({"-3..-1"}, 8) == Places{5, 6, 7});
  CHECK(chosen({"0..-1/3"}, 8) == Places{0, 3, 6});
  for (const char* text : {"all", "3", "-1", "0..15", "-64..-1", "0..-1/16"}) {
    CHECK(format_places(parse_places(text)) == text);
  }
}

TEST_CASE("selection: what is no place, and what is not there, is refused") {
  for (const char* text : {"", "x", "1..", "..2", "3..1", "-1..-4", "1/2", "1..4/0", "1..4/-1", "1..2..3", "1.5"}) {
    CHECK_THROWS_AS(parse_places(text), UsageError);
  }
  CHECK_THROWS_WITH(chosen({"8"}, 8), "--head: 8 is not there, expected -8 to 7, of 8 heads");
  CHECK_THROWS_WITH(chosen({"-9"}, 8), "--head: -9 is not there, expected -8 to 7, of 8 heads");
  CHECK_THROWS_AS(chosen({"6..-4"}, 8), UsageError);
}
