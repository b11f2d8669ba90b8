// boxes: eval model text io kernels base
// What is expected was made with NLTK 3.10 and the same parameters; tests/crosscheck/essays.sh compares whole essays.
#include "eval/punkt.h"

#include <fstream>

#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

namespace {

void put(const std::string& path, std::string_view text) {
  std::ofstream(path) << text;
}

// A few parameters, in the four files of punkt_tab.
void put_parameters(const ScratchFolder& folder) {
  put(folder / "abbrev_types.txt", "mr\ne.g\nu.s\ninc");
  put(folder / "sent_starters.txt", "it\nthere\n");
  put(folder / "collocations.tab", "##number##\tlondon\r\nj\tdoe\r\n");
  put(folder / "ortho_context.tab", "he\t34\nshe\t38\ncat\t96\nsmith\t12\nto\t80\n");
}

}  // namespace

TEST_CASE("punkt: sentences are those of NLTK") {
  const ScratchFolder folder;
  put_parameters(folder);
  const Punkt punkt(folder.path());
  const auto check = [&](std::string_view text, const std::vector<std::string_view>& expected) {
    INFO(text);
    CHECK(punkt.sentences(text) == expected);
  };
  check("", {});
  check("One two", {"One two"});
  check("One. two.  Three ", {"One.", "two.", "Three"});
  check("Mr. Smith went. So did Mr. He", {"Mr. Smith went.", "So did Mr.", "He"});
  check("In the U.S. It rains. In the U.S. Today too.", {"In the U.S.", "It rains.", "In the U.S. Today too."});
  check("From 5. London calls. From 6. Paris calls", {"From 5. London calls.", "From 6.", "Paris calls"});
  check("J. Doe and K. Smith and L. He. M. to", {"J. Doe and K. Smith and L.", "He.", "M.", "to"});
  check("Wait... he said. Wait... He said", {"Wait... he said.", "Wait...", "He said"});
  check("\"Quote.\" (Yes.) [1.] End.) 'No!' \u201CSo?\u201D Then.--Dash",
        {"\"Quote.\"", "(Yes.)", "[1.]", "End.)", "'No!'", "\u201CSo?\u201D", "Then.--Dash"});
  check("What?! No. . . . yes. e.g. this; Acme-Inc. Ltd",
        {"What?!", "No.", ".", ".", ".", "yes.", "e.g. this; Acme-Inc. Ltd"});
}

TEST_CASE("punkt: files that are not punkt_tab") {
  const auto error = [](const char* name, const char* text) {
    const ScratchFolder folder;
    put_parameters(folder);
    put(folder / name, text);
    return error_of([&] { Punkt punkt(folder.path()); });
  };
  CHECK(contains(error("abbrev_types.txt", ""), "abbrev_types.txt: empty"));
  CHECK(contains(error("sent_starters.txt", "a\nb\t5\n"), "sent_starters.txt:2: a tab"));
  CHECK(contains(error("collocations.tab", "a\tb\nc\n"), "collocations.tab:2: not two parts"));
  CHECK(contains(error("collocations.tab", "a\tb\tc\n"), "collocations.tab:1: not two parts"));
  CHECK(contains(error("ortho_context.tab", "a\t1x\n"), "ortho_context.tab:1: '1x', expected a whole number"));
  const ScratchFolder empty;
  CHECK(contains(error_of([&] { Punkt punkt(empty.path()); }), "abbrev_types.txt"));
}
