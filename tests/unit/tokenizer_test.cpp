// boxes: text io base
#include "text/tokenizer.h"

#include <sentencepiece_processor.h>

#include "base/error.h"
#include "base/rng.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/token_vectors.h"
#include "text/sentencepiece_model.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

const std::string kFolder = "tests/data/tokenizers/";
const std::vector<std::string> kModels = {"spm-bpe-1k-bytefallback", "spm-bpe-1k-nfkc", "spm-bpe-1k-noprefix",
                                          "spm-unigram-1k-nfkc"};

std::string model_path(const std::string& name) {
  return kFolder + name + ".model";
}

std::unique_ptr<Tokenizer> open_model(const std::string& name) {
  return open_tokenizer(model_path(name));
}

std::vector<TokenVector> vectors_of(const std::string& name) {
  return read_token_vectors(kFolder + "golden/tiny-" + name + ".jsonl");
}

// Every golden text, shuffled and repeated: all scripts, blanks, digits, NUL and bytes that are not UTF-8.
std::string long_text(std::size_t bytes) {
  const std::vector<TokenVector> vectors = vectors_of("spm-bpe-1k-bytefallback");
  bam::Rng rng(11);
  std::string text;
  while (text.size() < bytes) text += vectors[rng.below(vectors.size())].bytes;
  return text;
}

std::vector<Token> library_ids(const std::string& model, const std::string& text) {
  sentencepiece::SentencePieceProcessor library;
  REQUIRE(library.LoadFromSerializedProto(slurp(model)).ok());
  const std::vector<int> ids = library.EncodeAsIds(text);
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE("tokenizer: bytes are their own ids") {
  const auto tokenizer = open_tokenizer("bytes");
  CHECK(tokenizer->kind() == "bytes");
  CHECK(tokenizer->vocab_size() == 257);
  CHECK(tokenizer->bos_id() == 256);
  CHECK_FALSE(tokenizer->eos_id());
  CHECK(tokenizer->files().empty());
  CHECK(tokenizer->fidelity() == Fidelity::bytes);

  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::vector<Token> ids = tokenizer->encode(all);
  REQUIRE(ids.size() == 256);
  for (int byte = 0; byte < 256; ++byte) CHECK(ids[static_cast<std::size_t>(byte)] == byte);
  CHECK(tokenizer->decode(ids) == all);
  CHECK(tokenizer->decode(std::vector<Token>{256, 65, 256, 66}) == "AB");
  CHECK(tokenizer->piece(10) == "<0x0A>");
  CHECK(tokenizer->piece(256) == "<bos>");
  CHECK(error_of([&] { tokenizer->decode(std::vector<Token>{257}); }) == "id 257 is outside the vocabulary of 257 ids");
  CHECK_THROWS_AS(tokenizer->decode(std::vector<Token>{-1}), bam::Error);
  CHECK_THROWS_AS(open_tokenizer("bytes", "<s>"), bam::UsageError);
}

TEST_CASE("tokenizer: SentencePiece ids and texts are those of the golden vectors") {
  for (const std::string& name : kModels) {
    const auto tokenizer = open_model(name);
    const std::vector<TokenVector> vectors = vectors_of(name);
    REQUIRE(vectors.size() == 297);
    for (const TokenVector& vector : vectors) {
      INFO(name << " " << vector.category << ": " << vector.bytes);
      CHECK(tokenizer->encode(vector.bytes) == vector.ids);
      CHECK(tokenizer->decode(vector.ids) == vector.decoded);
    }
  }
}

TEST_CASE("tokenizer: what each model is") {
  const auto fallback = open_model("spm-bpe-1k-bytefallback");
  CHECK(fallback->kind() == "sentencepiece");
  CHECK(fallback->name() == "spm-bpe-1k-bytefallback");
  CHECK(fallback->vocab_size() == 1024);
  CHECK(fallback->bos_id() == 1);
  CHECK(fallback->eos_id() == Token{2});
  CHECK(fallback->fidelity() == Fidelity::text);
  REQUIRE(fallback->files().size() == 1);
  CHECK(fallback->files()[0].name == "tokenizer.model");
  CHECK(fallback->files()[0].bytes == slurp(model_path("spm-bpe-1k-bytefallback")));
  CHECK(fallback->piece(1) == "<s>");
  CHECK(fallback->piece(3) == "<0x00>");
  CHECK(fallback->piece(948) == "\xe2\x96\x81");
  CHECK_THROWS_AS(fallback->piece(1024), bam::Error);
  CHECK_FALSE(open_model("spm-bpe-1k-nfkc")->lossless());
  CHECK_FALSE(open_model("spm-unigram-1k-nfkc")->lossless());
}

TEST_CASE("tokenizer: a model without BOS gets one above its vocabulary, or the one that is named") {
  const auto added = open_model("spm-bpe-1k-noprefix");
  CHECK(added->vocab_size() == 1025);
  CHECK(added->bos_id() == 1024);
  CHECK(added->piece(1024) == "<bos>");
  std::vector<Token> ids;
  encode_document(*added, "a b", ids);
  REQUIRE(ids.size() > 2);
  CHECK(ids.front() == 1024);
  CHECK(added->decode(ids) == "a b");

  const auto named = open_tokenizer(model_path("spm-bpe-1k-noprefix"), "<pad>");
  CHECK(named->vocab_size() == 1024);
  CHECK(named->bos_id() == 2);
  const std::string problem = error_of([] { open_tokenizer(model_path("spm-bpe-1k-noprefix"), "<s>"); });
  CHECK(contains(problem, "--bos-token: <s> is not a special token of"));
  CHECK(contains(problem, "<pad>"));
  // User-defined symbols occur in texts, and so cannot say where a document begins.
  CHECK_THROWS_AS(open_tokenizer(model_path("spm-unigram-1k-nfkc"), "<sep>"), bam::UsageError);
  CHECK(open_tokenizer(model_path("spm-unigram-1k-nfkc"), "<ctl>")
            ->piece(open_tokenizer(model_path("spm-unigram-1k-nfkc"), "<ctl>")->bos_id()) == "<ctl>");
}

TEST_CASE("tokenizer: special tokens written out in a text are plain text") {
  for (const std::string& name : kModels) {
    const auto tokenizer = open_model(name);
    for (const std::string text : {"<s>", "</s>", "<unk>", "<pad>", "<ctl>", "a</s>b", "<0x0A>", "<bos>"}) {
      for (const Token id : tokenizer->encode(text)) {
        CHECK(id != tokenizer->bos_id());
        CHECK(id != tokenizer->eos_id().value_or(-1));
      }
    }
  }
}

TEST_CASE("tokenizer: blanks are neither lost nor invented") {
  for (const std::string name : {"spm-bpe-1k-bytefallback", "bytes"}) {
    const auto tokenizer = name == "bytes" ? open_tokenizer(name) : open_model(name);
    for (const std::string text : {"", " ", "  ", " x", "x", "  x", "x ", "\tx", "\n", "\r\n", "\xc3\xa9",
                                   "\xf0\x9f\x98\x80", " \n ", "a\n\nb"}) {
      INFO(name << " '" << text << "'");
      CHECK(tokenizer->decode(tokenizer->encode(text)) == text);
    }
  }
}

TEST_CASE("tokenizer: a document begins with BOS, ends with EOS, and is nothing when it is empty") {
  const auto tokenizer = open_model("spm-bpe-1k-bytefallback");
  std::vector<Token> ids = {7};
  encode_document(*tokenizer, "", ids);
  CHECK(ids == std::vector<Token>{7});
  encode_document(*tokenizer, "a", ids);
  CHECK(ids == std::vector<Token>{7, 1, 260, 2});
  // Its normaliser removes blanks, so these too are empty.
  std::vector<Token> none;
  encode_document(*open_model("spm-bpe-1k-nfkc"), "   ", none);
  CHECK(none.empty());
}

TEST_CASE("tokenizer: long texts have the ids the library gives them in one piece") {
  const std::string text = long_text(200 * 1000);
  for (const std::string& name : kModels) {
    INFO(name);
    CHECK(open_model(name)->encode(text) == library_ids(model_path(name), text));
  }
}

TEST_CASE("tokenizer: ids in any order decode to what the library decodes them to") {
  bam::Rng rng(8);
  const ScratchFolder folder;
  std::vector<std::string> models;
  for (const std::string& name : kModels) {
    models.push_back(slurp(model_path(name)));
    // The same, with nothing for the unknown: a second message about training is added to the first.
    models.push_back(models.back() + std::string("\x12\x03\xE2\x02\x00", 5));
  }
  for (const std::string& model : models) {
    spit(folder / "x.model", model);
    const auto ours = open_tokenizer(folder / "x.model");
    sentencepiece::SentencePieceProcessor library;
    REQUIRE(library.LoadFromSerializedProto(model).ok());
    for (int round = 0; round < 500; ++round) {
      std::vector<int> ids(rng.below(12));
      for (int& id : ids) {
        // Blanks, special ids and bytes more often than others.
        const std::uint64_t kind = rng.below(4);
        id = static_cast<int>(kind == 0 ? rng.below(4) : kind == 1 ? 120 + rng.below(140) : rng.below(1000));
      }
      std::string expected;
      REQUIRE(library.Decode(ids, &expected).ok());
      CHECK(ours->decode(std::vector<Token>(ids.begin(), ids.end())) == expected);
    }
  }
}

TEST_CASE("tokenizer: odd texts have the ids that the library gives them") {
  const std::vector<std::string> signs = {" ",
                                          "\xe2\x96\x81",
                                          "\xff",
                                          "\xe2\x82",
                                          "a",
                                          "the",
                                          "\xef\xac\x81",
                                          "<sep>",
                                          "[X]",
                                          "<s>",
                                          "\xe3\x80\x80",
                                          "\t",
                                          "\xef\xbc\x9c\x73\x65\x70>",
                                          "\xe4\xbd\xa0",
                                          std::string(1, '\0'),
                                          "<0x0A>",
                                          "\n"};
  bam::Rng rng(12);
  for (const std::string& name : kModels) {
    const auto ours = open_model(name);
    sentencepiece::SentencePieceProcessor library;
    REQUIRE(library.LoadFromSerializedProto(slurp(model_path(name))).ok());
    for (int round = 0; round < 500; ++round) {
      std::string text;
      for (std::uint64_t i = rng.below(12); i > 0; --i) text += signs[rng.below(signs.size())];
      const std::vector<int> expected = library.EncodeAsIds(text);
      INFO(name << ": " << text);
      CHECK(ours->encode(text) == std::vector<Token>(expected.begin(), expected.end()));
    }
  }
}

TEST_CASE("tokenizer: special tokens written out in a text count where they are allowed") {
  const auto tokenizer = open_tokenizer(model_path("spm-bpe-1k-bytefallback"), "", true);
  const auto plain = open_model("spm-bpe-1k-bytefallback");
  std::vector<Token> expected = plain->encode("a");
  expected.push_back(2);
  CHECK(tokenizer->encode("a</s>") == expected);
  CHECK(tokenizer->encode("<s>") == std::vector<Token>{1});
  CHECK_THROWS_AS(open_tokenizer(model_path("spm-unigram-1k-nfkc"), "", true), bam::UsageError);
  CHECK_THROWS_AS(open_tokenizer("bytes", "", true), bam::UsageError);
}

TEST_CASE("tokenizer: parts cut where last_cut says have the ids of the whole") {
  const auto tokenizer = open_model("spm-bpe-1k-bytefallback");
  const std::string text = long_text(30 * 1000);
  const std::vector<Token> whole = tokenizer->encode(text);
  bam::Rng rng(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<Token> ids;
    std::string_view rest = text;
    int parts = 0;
    for (std::size_t window = 0; !rest.empty(); window = window == 0 ? 1 + rng.below(400) : window * 2) {
      const Index cut =
          window < rest.size() ? tokenizer->last_cut(rest.substr(0, window)) : static_cast<Index>(rest.size());
      if (cut == 0) continue;
      tokenizer->encode_part(rest.substr(0, static_cast<std::size_t>(cut)), parts++ == 0, ids);
      rest.remove_prefix(static_cast<std::size_t>(cut));
      window = 0;
    }
    CHECK(parts > 20);
    CHECK(ids == whole);
  }
  // Unigram scores are rounded along the whole text: there is no safe place.
  CHECK(open_model("spm-unigram-1k-nfkc")->last_cut("one two three") == 0);
  CHECK(tokenizer->last_cut("in") == 0);
}

TEST_CASE("tokenizer: many ids decode to the text they came from") {
  const auto tokenizer = open_model("spm-bpe-1k-bytefallback");
  std::string text;
  for (int i = 0; text.size() < 300 * 1000; ++i) text += " word " + std::to_string(i) + "\n\xe4\xbd\xa0 ";
  const std::vector<Token> ids = tokenizer->encode(text);
  REQUIRE(ids.size() > 3 * 64 * 1024);
  CHECK(tokenizer->decode(ids) == text);
  // A first part that decodes to nothing must not cost the next one its blank.
  std::vector<Token> led(70 * 1000, tokenizer->bos_id());
  const std::vector<Token> blank = tokenizer->encode(" x");
  led.insert(led.end(), blank.begin(), blank.end());
  CHECK(tokenizer->decode(led) == " x");
}

TEST_CASE("tokenizer: carried files make the same tokenizer") {
  for (const std::string& name : kModels) {
    const auto from_file = open_model(name);
    const bam::io::ShardHeader header = shard_header(*from_file);
    const auto carried = make_tokenizer(header, from_file->files(), "shard");
    CHECK(bam::io::header_difference(shard_header(*carried), header).empty());
    CHECK(carried->sha256() == from_file->sha256());
    CHECK(carried->encode("Some text, 123.") == from_file->encode("Some text, 123."));
  }
  const auto bytes = open_tokenizer("bytes");
  CHECK(make_tokenizer(shard_header(*bytes), {}, "shard")->vocab_size() == 257);
  const auto named = open_tokenizer(model_path("spm-bpe-1k-noprefix"), "<pad>");
  CHECK(make_tokenizer(shard_header(*named), named->files(), "shard")->bos_id() == 2);
}

TEST_CASE("tokenizer: carried files that do not fit are refused") {
  const auto model = open_model("spm-bpe-1k-bytefallback");
  CarriedTokenizer carried{"sentencepiece", "x", 1024, 1, model->files()};
  CHECK(make_tokenizer(carried, "a.h5")->vocab_size() == 1024);
  carried.vocab_size = 1000;
  CHECK(error_of([&] { make_tokenizer(carried, "a.h5"); }) ==
        "a.h5: says 1000 ids, but the tokenizer it carries has 1024");
  carried.vocab_size = 1024;
  carried.bos_id = 500;
  CHECK(contains(error_of([&] { make_tokenizer(carried, "a.h5"); }), "a.h5: its BOS 500 is not"));
  carried.kind = "wordpiece";
  CHECK(contains(error_of([&] { make_tokenizer(carried, "a.h5"); }), "kind \"wordpiece\""));
  carried = {"bytes", "bytes", 300, 256, {}};
  CHECK_THROWS_AS(make_tokenizer(carried, "a.h5"), bam::Error);
}

TEST_CASE("tokenizer: files that are no tokenizer are refused in one line") {
  const ScratchFolder folder;
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string("{\"model\": {}}"),
                                   std::string(5000, '\0'), std::string(5000, '\xff')}) {
    spit(folder / "x.model", bytes);
    const std::string problem = error_of([&] { open_tokenizer(folder / "x.model"); });
    CHECK(is_one_line(problem));
    CHECK(contains(problem, folder / "x.model"));
  }
  spit(folder / "x.model", "\x12\x02\x18\x03\x1A\x02\x18\x01");
  CHECK(error_of([&] { open_tokenizer(folder / "x.model"); }) ==
        folder / "x.model: a SentencePiece model of the type WORD, expected BPE, UNIGRAM or CHAR");
  CHECK(contains(error_of([&] { open_tokenizer(folder / "missing.model"); }), "missing.model"));
  CHECK(contains(error_of([&] { open_tokenizer(folder.path()); }), "directory"));
}

TEST_CASE("tokenizer: a model cut at any byte is refused") {
  const std::string model = slurp(model_path("spm-bpe-1k-bytefallback"));
  // Behind the normaliser stands only an empty message, which changes nothing.
  for (std::size_t size = 0; size + 2 < model.size(); size += size < 200 || size + 300 > model.size() ? 1 : 7) {
    CarriedTokenizer carried{"sentencepiece", "x", 1024, 1, {{"tokenizer.model", model.substr(0, size)}}};
    INFO(size << " of " << model.size());
    CHECK(is_one_line(error_of([&] { make_tokenizer(carried, "shard"); })));
    CHECK(error_of([&] { make_tokenizer(carried, "shard"); }) != "no error");
  }
}

TEST_CASE("tokenizer: a model with flipped bits is refused or works, and never crashes") {
  const std::string text = "Some text: \xef\xac\x81 \xe2\x91\xa0 e\xcc\x81 \xea\xb0\x80 \xef\xbd\xb1 <sep> 123\tx";
  bam::Rng rng(5);
  for (const std::string& name : kModels) {
    const std::string model = slurp(model_path(name));
    for (int round = 0; round < 15; ++round) {
      std::string broken = model;
      const int flips = 1 + static_cast<int>(rng.below(4));
      for (int i = 0; i < flips; ++i) broken[rng.below(broken.size())] ^= static_cast<char>(1U << rng.below(8));
      CarriedTokenizer carried{"sentencepiece", "x", 1024, 1, {{"tokenizer.model", broken}}};
      try {
        const auto tokenizer = make_tokenizer(carried, "shard");
        tokenizer->decode(tokenizer->encode(text));
      } catch (const bam::Error& error) {
        CHECK(is_one_line(error.what()));
      }
    }
  }
  SUCCEED();
}

TEST_CASE("tokenizer: normalisation rules that lead astray are found") {
  const std::string file = slurp(model_path("spm-bpe-1k-nfkc"));
  const std::string rules(parse_sentencepiece_model(file, "x").character_map);
  REQUIRE(rules.size() > 100 * 1000);
  CHECK(character_map_problem(rules).empty());
  CHECK_FALSE(character_map_problem(rules.substr(0, rules.size() - 1)).empty());
  CHECK_FALSE(character_map_problem(rules.substr(0, 1000)).empty());
  std::string outside = rules;
  for (std::size_t i = 4; i < 8; ++i) outside[i] = '\x7f';  // the root's offset
  CHECK(character_map_problem(outside) == "a rule leads outside the table");
  // 256 units that no byte leads to, but for unit 1: byte 3 leads there from the root, and again from itself.
  std::string endless("\x00\x04\x00\x00", 4);
  for (int i = 0; i < 256; ++i) endless += std::string("\xff\x00\x00\x80", 4);
  endless += '\0';
  endless.replace(4, 4, std::string("\x00\x08\x00\x00", 4));
  CHECK(character_map_problem(endless).empty());
  endless.replace(8, 4, std::string("\x03\x0c\x00\x00", 4));
  CHECK(character_map_problem(endless) == "a rule without end");
  CHECK(character_map_problem("").empty());
}
