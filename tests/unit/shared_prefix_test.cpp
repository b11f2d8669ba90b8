// boxes: eval model text io kernels base
#include "eval/prefix_reader.h"
#include "eval/shared_chunks.h"
#include "support/catch.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::eval;
using namespace bam::test;

TEST_CASE("prefix: what a text has in common with the one before is not read again") {
  const TinyModel tiny = random_model();
  PrefixReader reader(*tiny.loaded.model, 8, 4);
  const auto read = [&](const std::vector<text::Token>& ids, Index most) {
    const Index kept = reader.begin(ids, most);
    reader.reader().next_logits(std::span(ids).subspan(static_cast<std::size_t>(kept)));
    return kept;
  };
  CHECK(read({1, 2, 3, 4, 5}, 4) == 0);
  CHECK(read({1, 2, 3, 9}, 3) == 3);
  CHECK(read({1, 2, 3, 9}, 2) == 2);
  CHECK(read({7, 2}, 1) == 0);
  CHECK(read({7, 2, 3}, 2) == 2);
  reader.forget();
  CHECK(read({7, 2, 3}, 2) == 0);
}

TEST_CASE("prefix: whole chunks that a text has in common with the one before are not read again") {
  const TinyModel tiny = random_model();
  SharedChunks chunks(*tiny.loaded.model, 16, 3);
  std::vector<Index> read;
  const auto begin = [&](const std::vector<text::Token>& ids, Index unscored) {
    read.clear();
    const Index kept = chunks.begin(ids, unscored, [&](Index length) { read.push_back(length); });
    const auto rest = std::span(ids).subspan(static_cast<std::size_t>(chunks.reader().length()));
    chunks.reader().next_logits(rest);
    return kept;
  };
  CHECK(begin({1, 2, 3, 4, 5, 6, 7, 8}, 7) == 0);
  CHECK(read == std::vector<Index>{3, 6});
  CHECK(begin({1, 2, 3, 4, 5, 6, 7, 8}, 7) == 6);
  CHECK(read.empty());
  CHECK(begin({1, 2, 3, 4, 5, 9, 7, 8, 9, 9}, 9) == 3);
  CHECK(read == std::vector<Index>{6, 9});
  CHECK(begin({1, 2, 3, 4, 5, 9, 7, 8, 9, 9}, 5) == 3);
  // What came behind the unscored ids is not kept, even where the next text has it too.
  CHECK(begin({1, 2, 3, 4, 5, 9, 7, 8, 9, 9}, 9) == 3);
  CHECK(begin({4}, 0) == 0);
  SharedChunks separate(*tiny.loaded.model, 16, 3, false);
  for (int i = 0; i < 2; ++i) CHECK(separate.begin(std::vector<text::Token>{1, 2, 3, 4, 5, 6, 7, 8}, 7) == 0);
}
