// boxes: text io base
#include "text/tokenizer_json.h"

#include <array>
#include <cstring>

#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_bpe.h"
#include "support/token_vectors.h"
#include "text/formats.h"
#include "text/huggingface_files.h"
#include "text/sentencepiece_tokenizer.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

const std::string kFolder = "tests/data/tokenizers/";

std::string random_text(bam::Rng& rng, const std::vector<std::string>& signs, std::uint64_t most) {
  std::string text;
  for (std::uint64_t i = rng.below(most); i > 0; --i) text += signs[rng.below(signs.size())];
  return text;
}

// The tokenizer that the exported tokenizer.json is.
std::unique_ptr<Tokenizer> exported(const Tokenizer& tokenizer) {
  std::string problem;
  for (const bam::io::TokenizerFile& file : huggingface_files(tokenizer, problem)) {
    if (file.name == "tokenizer.json") return make_huggingface(file.bytes, {"exported", "exported", {}, false});
  }
  FAIL("no tokenizer.json: " << problem);
  return nullptr;
}

void check_texts(const Tokenizer& ours, const std::vector<std::string>& texts) {
  const auto theirs = exported(ours);
  CHECK(theirs->bos_id() == ours.bos_id());
  CHECK(theirs->vocab_size() == ours.vocab_size());
  for (const std::string& text : texts) {
    INFO(text);
    const std::vector<Token> ids = ours.encode(text);
    CHECK(theirs->encode(text) == ids);
    CHECK(theirs->decode(ids) == ours.decode(ids));
  }
}

std::vector<std::string> valid_texts(const std::string& vectors) {
  std::vector<std::string> texts;
  for (const TokenVector& vector : read_token_vectors(vectors)) {
    if (vector.category.find("invalid") == std::string::npos) texts.push_back(vector.bytes);
  }
  return texts;
}

struct MadePiece {
  std::string text;
  float score = 0;
  int type = 1;
};

// A SentencePiece model of these pieces behind <unk>, <s>, </s>, without normalisation, as a protocol buffer.
std::string made_model(const std::vector<MadePiece>& pieces, bool dummy_prefix) {
  const auto bytes = [](char field, const std::string& content) {
    return std::string{static_cast<char>(field << 3U | 2U), static_cast<char>(content.size())} + content;
  };
  const auto number = [](char field, char value) { return std::string{static_cast<char>(field << 3U), value}; };
  std::string file;
  const auto add = [&](const MadePiece& piece) {
    std::array<char, 4> score{};
    std::memcpy(score.data(), &piece.score, 4);
    file += bytes(1, bytes(1, piece.text) + std::string{(2 << 3) | 5} + std::string(score.data(), 4) +
                         number(3, static_cast<char>(piece.type)));
  };
  for (const MadePiece& piece : {MadePiece{"<unk>", 0, 2}, MadePiece{"<s>", 0, 3}, MadePiece{"</s>", 0, 3}}) add(piece);
  for (const MadePiece& piece : pieces) add(piece);
  return file + bytes(2, number(3, 2)) + bytes(3, number(3, dummy_prefix ? 1 : 0) + number(4, 0) + number(5, 1));
}

std::unique_ptr<Tokenizer> made(const std::vector<MadePiece>& pieces, bool dummy_prefix = true) {
  return make_sentencepiece_tokenizer(made_model(pieces, dummy_prefix), "made", {}, "made");
}

std::string blanks(int count) {
  std::string text;
  while (count-- > 0) text += "\xE2\x96\x81";
  return text;
}

std::string problem_of(const Tokenizer& tokenizer) {
  std::string problem;
  CHECK(huggingface_files(tokenizer, problem).empty());
  return problem;
}

}  // namespace

TEST_CASE("tokenizer_json: a SentencePiece model keeps its ids") {
  check_texts(*open_tokenizer(kFolder + "spm-bpe-1k-bytefallback.model"),
              valid_texts(kFolder + "golden/tiny-spm-bpe-1k-bytefallback.jsonl"));
}

TEST_CASE("tokenizer_json: runs of blanks of one score, and symbols of the user") {
  const std::vector<std::string> signs = {" ",   "  ",   "   ",          "a",           "b", "c",
                                          "[X]", "[XY]", "\xE2\x96\x81", "\xEF\xB7\x90"};
  // Lengths that grow one by one, one that only a run and a pair make, and one that is made of two runs.
  for (const std::vector<int>& lengths : {std::vector<int>{2, 3, 4}, {2, 3, 4, 6}, {2, 4, 8}}) {
    std::vector<MadePiece> pieces = {{"\xE2\x96\x81", -5},
                                     {"a", -6},
                                     {"b", -7},
                                     {"\xE2\x96\x81"
                                      "a",
                                      -1},
                                     {"ab", -2}};
    for (const int length : lengths) pieces.push_back({blanks(length), -1e9F});
    pieces.push_back({"[X]", 0, 4});
    pieces.push_back({"[XY]", 0, 4});
    for (const bool dummy_prefix : {false, true}) {
      const auto ours = made(pieces, dummy_prefix);
      const auto theirs = exported(*ours);
      bam::Rng rng(5);
      for (int round = 0; round < 2000; ++round) {
        const std::string text = random_text(rng, signs, 30);
        INFO(text);
        CHECK(theirs->encode(text) == ours->encode(text));
      }
    }
  }
}

TEST_CASE("tokenizer_json: pieces of one score that share a character keep the leftmost first") {
  const auto ours = made({{"\xE2\x96\x81", -5}, {"a", -6}, {"b", -7}, {"c", -8}, {"bc", -2}, {"ab", -2}, {"aa", -2}});
  const auto theirs = exported(*ours);
  bam::Rng rng(6);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(rng, {"a", "b", "c", " "}, 30);
    INFO(text);
    CHECK(theirs->encode(text) == ours->encode(text));
  }
  const std::vector<MadePiece> base = {{"\xE2\x96\x81", -5}, {"a", -6}, {"b", -7}};
  const auto with = [&](const std::vector<MadePiece>& more) {
    std::vector<MadePiece> pieces = base;
    pieces.insert(pieces.end(), more.begin(), more.end());
    return made(pieces);
  };
  CHECK(problem_of(*with({{"ab", -2}, {"ba", -2}})) == "it has pieces of one score that meet");
  CHECK(problem_of(*with({{"ab", -2}, {"abb", -2}})) == "it has pieces of one score that meet");
  CHECK(problem_of(*with({{blanks(2), -2}, {blanks(3), -2}, {blanks(3) + "a", -1}})) ==
        "it has pieces of one score that meet");
}

TEST_CASE("tokenizer_json: what no tokenizer.json can say exactly is told") {
  CHECK(problem_of(*open_tokenizer(kFolder + "spm-bpe-1k-nfkc.model")) == "it has normalisation rules");
  CHECK(problem_of(*open_tokenizer(kFolder + "spm-unigram-1k-nfkc.model")) == "it is no BPE model");
  CHECK(problem_of(*made({{"\xE2\x96\x81", -5}, {"ab", -1}})) == "it has pieces with characters that are no pieces");
  CHECK(problem_of(*made({{"\xE2\x96\x81", -5}, {"x", 0, 3}})) == "it has control pieces of one character");
  CHECK(problem_of(*made({{"\xE2\x96\x81", -5}, {std::string(kSymbolMark) + "a", -1}})) ==
        "it has pieces with U+FDD0 U+FDEF");
}

TEST_CASE("tokenizer_json: byte-level vocabularies keep their ids") {
  const ScratchFolder folder;
  spit(folder / "tiny-vocab.json", tiny_vocabulary_json(true));
  spit(folder / "tiny-merges.txt", tiny_merges_text());
  const std::vector<std::string> signs = {"the",
                                          " the",
                                          "hello",
                                          "aaaaaaa",
                                          "\n\n\n",
                                          "  ",
                                          "\xC3\xA9",
                                          "'ll",
                                          "1234",
                                          "\xE4\xB8\xAD",
                                          "<|end|>",
                                          "\r\n",
                                          std::string(1, '\0'),
                                          "!",
                                          "\xF0\x9F\x90\x8B"};
  bam::Rng rng(7);
  std::vector<std::string> texts;
  for (int round = 0; round < 300; ++round) texts.push_back(random_text(rng, signs, 20));
  check_texts(*open_tokenizer(folder / "tiny-vocab.json"), texts);
  check_texts(*open_tokenizer(folder / "tiny-vocab.json", "<|end|>"), texts);
  check_texts(*open_tokenizer("bytes"), texts);

  const std::string ranks = tiny_ranks();
  for (const std::string encoding : {"r50k_base", "cl100k_base", "o200k_base"}) {
    const auto ours = make_tiktoken_as(encoding, ranks, {"tiny", "tiny", {"<|endoftext|>", std::nullopt}, false});
    TokenizerJson json = tiktoken_json_as(encoding, ranks, "tiny");
    json.bos = ours->bos_id();
    const auto theirs = make_huggingface(format_tokenizer_json(json), {"tiny", "tiny", {}, false});
    CHECK(theirs->bos_id() == ours->bos_id());
    for (const std::string& text : texts) {
      INFO(encoding << ": " << text);
      CHECK(theirs->encode(text) == ours->encode(text));
    }
  }
}
