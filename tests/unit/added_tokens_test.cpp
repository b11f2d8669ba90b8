// boxes: text io
#include "text/added_tokens.h"

#include <utility>

#include "support/catch.h"

using namespace bam::text;

namespace {

using Sections = std::vector<std::pair<Token, std::string>>;

Sections sections_of(const AddedTokens& tokens, const std::string& text) {
  Sections sections;
  for (const AddedTokens::Section& section : tokens.split(text)) {
    sections.emplace_back(section.id, text.substr(section.begin, section.end - section.begin));
  }
  return sections;
}

}  // namespace

// As the library has it: what a token takes of the blanks around it does not keep another token from being found there,
// and the text goes on behind that one.
TEST_CASE("added_tokens: a token among the blanks that another takes is found") {
  const AddedTokens tokens({{.content = "<u>", .id = 1, .takes_blanks_behind = true},
                            {.content = "<l>", .id = 2, .takes_blanks_before = true},
                            {.content = "\n", .id = 3}});
  CHECK(sections_of(tokens, "a <u>  b") == Sections{{-1, "a "}, {1, "<u>  "}, {-1, "b"}});
  CHECK(sections_of(tokens, "<u>\nb") == Sections{{1, "<u>\n"}, {3, "\n"}, {-1, "b"}});
  CHECK(sections_of(tokens, "<u> \n b") == Sections{{1, "<u> \n "}, {3, "\n"}, {-1, " b"}});
  CHECK(sections_of(tokens, "<u>  <u>") == Sections{{1, "<u>  "}, {1, "<u>"}});
  CHECK(sections_of(tokens, "a  <l> b") == Sections{{-1, "a"}, {2, "  <l>"}, {-1, " b"}});
  CHECK(sections_of(tokens, "<u> <l>") == Sections{{1, "<u> "}, {2, "<l>"}});
}

TEST_CASE("added_tokens: what stays text keeps others from being found in it") {
  const AddedTokens tokens({{.content = "<s>", .id = 1, .stays_text = true}, {.content = "s", .id = 2}});
  CHECK(sections_of(tokens, "s<s>s") == Sections{{2, "s"}, {-1, "<s>"}, {2, "s"}});
  CHECK(tokens.any_ends("a<s>"));
  CHECK_FALSE(tokens.any_ends("a<"));
  CHECK_FALSE(tokens.look_around());
}
