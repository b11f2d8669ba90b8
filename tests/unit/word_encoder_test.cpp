// boxes: text io base
#include "text/word_encoder.h"

#include "base/rng.h"
#include "support/catch.h"

using namespace bam::text;

namespace {

// Bytes are their own ids; `count` merges of what there is already, with the texts they make.
WordModel random_model(bam::Rng& rng, int letters, int count, std::vector<std::string>& texts) {
  texts.clear();
  std::array<Token, 256> bytes{};
  for (int i = 0; i < 256; ++i) {
    bytes[static_cast<std::size_t>(i)] = i;
    texts.emplace_back(1, static_cast<char>(i));
  }
  std::vector<Merge> merges;
  const auto some = [&] {
    const auto all = static_cast<std::uint64_t>(letters) + merges.size();
    const auto drawn = static_cast<Token>(rng.below(all));
    return drawn < letters ? drawn : drawn - letters + 256;
  };
  for (int i = 0; i < count; ++i) {
    const Token left = some(), right = some();
    merges.push_back({left, right, static_cast<Token>(texts.size()), static_cast<std::uint32_t>(i)});
    texts.push_back(texts[static_cast<std::size_t>(left)] + texts[static_cast<std::size_t>(right)]);
  }
  return {Alphabet(bytes), MergeTable(merges), {}};
}

std::string random_word(bam::Rng& rng, int letters) {
  std::string word(1 + rng.below(40), ' ');
  for (char& letter : word) letter = static_cast<char>(rng.below(static_cast<std::uint64_t>(letters)));
  return word;
}

}  // namespace

TEST_CASE("word encoder: words taken apart at bytes that never meet give the ids of whole words") {
  bam::Rng rng(8);
  for (int round = 0; round < 60; ++round) {
    const int letters = 3 + static_cast<int>(rng.below(20));
    std::vector<std::string> texts;
    WordModel whole = random_model(rng, letters, 5 + static_cast<int>(rng.below(30)), texts);
    // A word that is an id as it stands is none where it is a part of another.
    if (round % 2 == 0) whole.whole_words.emplace(random_word(rng, letters).substr(0, 2), 999);
    WordModel parted = whole;
    for (const std::string& text : texts) parted.pairs.add(text);
    WordEncoder with, without;
    for (int i = 0; i < 200; ++i) {
      const std::string word = random_word(rng, letters);
      std::vector<Token> expected, found;
      without.encode(whole, word, word.size(), expected);
      with.encode(parted, word, word.size(), found);
      INFO("round " << round << ", word " << i);
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("word encoder: a word seen before gives its ids again, however many were seen between") {
  bam::Rng rng(9);
  std::vector<std::string> texts;
  const WordModel model = random_model(rng, 6, 30, texts);
  std::vector<std::string> words;
  for (int i = 0; i < 6000; ++i) words.push_back(random_word(rng, 6).substr(0, 12));
  WordEncoder encoder;
  for (int round = 0; round < 2; ++round) {
    for (const std::string& word : words) {
      std::vector<Token> expected, found;
      WordEncoder().encode(model, word, word.size(), expected);
      encoder.encode(model, word, word.size(), found);
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("word encoder: parts end where no piece holds both bytes") {
  BytePairs pairs;
  CHECK_FALSE(pairs.any());
  pairs.add("a");
  CHECK_FALSE(pairs.any());
  pairs.add("abc");
  pairs.add("\xFF\x80");
  CHECK(pairs.any());
  CHECK(pairs.behind_part("abcab", 0) == 3);
  CHECK(pairs.behind_part("abcab", 3) == 5);
  CHECK(pairs.behind_part("ac", 0) == 1);
  CHECK(pairs.behind_part("x\xFF\x80", 1) == 3);
}
