// boxes: text io base
#include "text/tokenize.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/inspect.h"
#include "text/learn.h"
#include "text/shard_output.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

struct Silence {
  Silence() { bam::log::configure("test", bam::log::Level::quiet); }
};
const Silence silence;

std::unique_ptr<Tokenizer> small_model() {
  return open_tokenizer("tests/data/tokenizers/spm-bpe-1k-bytefallback.model");
}

std::vector<Token> ids_of(const std::string& path, const Tokenizer& tokenizer, const TokenizeOptions& options,
                          TokenizeTotals* totals = nullptr) {
  std::vector<Token> ids;
  const TokenizeTotals counted =
      tokenize_files({path}, tokenizer, options, [&](std::span<const Token> part, bool, const TokenizeTotals&) {
        ids.insert(ids.end(), part.begin(), part.end());
      });
  CHECK(counted.tokens == static_cast<Index>(ids.size()));
  if (totals != nullptr) *totals = counted;
  return ids;
}

std::string english(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) {
    text += "The house number " + std::to_string(i * 7919) + " stands by the sea.\n";
  }
  return text;
}

std::string shard_of(const Tokenizer& tokenizer, const std::vector<std::string>& documents) {
  bam::io::MemorySink sink;
  bam::io::ShardWriter writer(sink, shard_header(tokenizer), tokenizer.files());
  for (const std::string& document : documents) {
    std::vector<Token> ids;
    encode_document(tokenizer, document, ids);
    writer.append(ids);
  }
  writer.finish();
  return sink.bytes();
}

std::string decoded(const std::string& path, InputFormat format) {
  InputOptions options;
  options.format = format;
  bam::io::MemorySink sink;
  decode_shards({path}, options, sink);
  return sink.bytes();
}

}  // namespace

TEST_CASE("tokenize: documents in order, each with BOS and EOS, and every record counted") {
  const ScratchFolder folder;
  const std::string path = folder / "a.jsonl";
  spit(path, "{\"text\":\"ab\"}\n{\"text\":\"\"}\n\n{\"text\":1}\n{\"text\":\"c\"}\n");
  const auto tokenizer = open_tokenizer("bytes");
  TokenizeOptions options;
  options.on_error = OnError::skip;
  TokenizeTotals totals;
  CHECK(ids_of(path, *tokenizer, options, &totals) == std::vector<Token>{256, 97, 98, 256, 99});
  CHECK(totals.documents == 2);
  CHECK(totals.tokens == 5);
  CHECK(totals.text_bytes == 3);
  CHECK(totals.empty == 1);
  CHECK(totals.skipped == 1);
  CHECK(totals.files == 1);

  options.on_error = OnError::fail;
  CHECK(error_of([&] { ids_of(path, *tokenizer, options); }) ==
        path + ":4: field \"text\" is a number, expected a string");
  CHECK(contains(error_of([&] { report(TokenizeTotals(), 1); }), "no tokens to write: 0 empty documents"));
}

TEST_CASE("tokenize: a failing record comes after everything before it, with any number of threads") {
  const ScratchFolder folder;
  const std::string path = folder / "a.jsonl";
  std::string lines;
  for (int i = 0; i < 60'000; ++i) lines += "{\"text\":\"a document that is long enough " + std::to_string(i) + "\"}\n";
  spit(path, lines + "{broken\n" + lines + "{broken\n");
  const auto tokenizer = open_tokenizer("bytes");
  for (const int threads : {1, 3}) {
    TokenizeOptions options;
    options.threads = threads;
    Index documents = 0;
    CHECK(error_of([&] {
            tokenize_files({path}, *tokenizer, options,
                           [&](std::span<const Token>, bool, const TokenizeTotals&) { ++documents; });
          }) == path + ":60001: not valid JSON");
    CHECK(documents == 60'000);
  }
}

TEST_CASE("tokenize: the number of threads and the parts of a text leave no trace in the ids") {
  const ScratchFolder folder;
  const std::string text = english(1'700'000);
  spit(folder / "a.txt", text);
  for (const std::string name : {"bytes", "tests/data/tokenizers/spm-bpe-1k-bytefallback.model"}) {
    const auto tokenizer = open_tokenizer(name);
    std::vector<Token> whole;
    encode_document(*tokenizer, text, whole);
    for (const int threads : {1, 3}) {
      TokenizeOptions options;
      options.threads = threads;
      TokenizeTotals totals;
      CHECK(ids_of(folder / "a.txt", *tokenizer, options, &totals) == whole);
      CHECK(totals.documents == 1);
      CHECK(totals.text_bytes == static_cast<Index>(text.size()));
    }
  }
}

TEST_CASE("tokenize: bytes that a tokenizer cannot keep are counted by document") {
  const ScratchFolder folder;
  spit(folder / "a", "good\nbad \xff\nworse \xe2\x82\n");
  TokenizeOptions options;
  options.input.format = InputFormat::lines;
  TokenizeTotals totals;
  ids_of(folder / "a", *small_model(), options, &totals);
  CHECK(totals.not_utf8 == 2);
  ids_of(folder / "a", *open_tokenizer("bytes"), options, &totals);
  CHECK(totals.not_utf8 == 0);
}

TEST_CASE("tokenize: what the sink throws comes through") {
  const ScratchFolder folder;
  spit(folder / "a.txt", english(3'000'000));
  const auto tokenizer = open_tokenizer("bytes");
  TokenizeOptions options;
  options.threads = 3;
  CHECK_THROWS_AS(tokenize_files({folder / "a.txt"}, *tokenizer, options,
                                 [](std::span<const Token>, bool, const TokenizeTotals&) { throw bam::BrokenPipe(); }),
                  bam::BrokenPipe);
}

TEST_CASE("tokenize: a folder takes shards cut between documents") {
  const ScratchFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  ShardOutput::Options options;
  options.shard_tokens = 10;
  ShardOutput output(folder / "new/", *tokenizer, options);
  CHECK(output.single_file() == nullptr);
  const std::vector<Token> document = {256, 1, 2, 3, 4, 5, 6};
  for (int i = 0; i < 5; ++i) {
    // Parts do not end a shard, documents do.
    output.append(std::span(document).first(3), false, {});
    output.append(std::span(document).subspan(3), true, {});
  }
  const auto& shards = output.finish({});
  REQUIRE(shards.size() == 3);
  CHECK(shards[0].path == folder / "new/00000.tok.zst");
  CHECK(shards[0].totals.tokens == 14);
  CHECK(shards[2].totals.documents == 1);
  CHECK(std::filesystem::exists(folder / "new/00002.tok.zst"));
  CHECK(contains(error_of([&] { ShardOutput(folder / "new", *tokenizer, options); }), "holds shards already"));
  CHECK_THROWS_AS(ShardOutput(folder / "no/such/", *tokenizer, options), bam::Error);
}

TEST_CASE("tokenize: duplicates are dropped and the same documents held out, with any number of threads") {
  const ScratchFolder folder;
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += "document " + std::to_string(i % 1000) + "\n";
  spit(folder / "a", lines);
  const auto tokenizer = open_tokenizer("bytes");
  std::vector<Token> first_kept, first_held;
  for (const int threads : {1, 3}) {
    std::vector<Token> held;
    TokenizeOptions options;
    options.input.format = InputFormat::lines;
    options.threads = threads;
    options.drop_duplicates = true;
    options.held_out_share = 0.2;
    options.held_out = [&](std::span<const Token> ids, bool, const TokenizeTotals&) {
      held.insert(held.end(), ids.begin(), ids.end());
    };
    TokenizeTotals totals;
    const std::vector<Token> kept = ids_of(folder / "a", *tokenizer, options, &totals);
    CHECK(totals.duplicates == 2000);
    CHECK(totals.documents + totals.held_out == 1000);
    CHECK(totals.held_out > 150);
    CHECK(totals.held_out < 250);
    CHECK(std::count(held.begin(), held.end(), Token{256}) == totals.held_out);
    if (threads == 1) {
      first_kept = kept;
      first_held = held;
    }
    CHECK(kept == first_kept);
    CHECK(held == first_held);
  }
}

TEST_CASE("tokenize: what an earlier start delivered is passed over") {
  const ScratchFolder folder;
  spit(folder / "a", "{\"text\":\"a\"}\n{\"text\":\"\"}\n{\"text\":\"b\"}\n{\"text\":\"a\"}\n");
  const auto tokenizer = open_tokenizer("bytes");
  TokenizeOptions options;
  options.input.format = InputFormat::jsonl;
  options.drop_duplicates = true;
  spit(folder / "first", "{\"text\":\"a\"}\n{\"text\":\"\"}\n");
  ids_of(folder / "first", *tokenizer, options, &options.before);
  REQUIRE(options.before.records == 2);
  options.before_from = "folder";
  std::vector<Token> ids;
  const TokenizeTotals totals = tokenize_files({folder / "a"}, *tokenizer, options,
                                               [&](std::span<const Token> part, bool, const TokenizeTotals&) {
                                                 ids.insert(ids.end(), part.begin(), part.end());
                                               });
  CHECK(ids == std::vector<Token>{256, 'b'});
  CHECK(totals.records == 4);
  CHECK(totals.documents == 2);
  CHECK(totals.duplicates == 1);

  const auto refused = [&](const std::string& lines) {
    spit(folder / "b", lines);
    Index delivered = 0;
    const std::string error = error_of([&] {
      tokenize_files({folder / "b"}, *tokenizer, options,
                     [&](std::span<const Token>, bool, const TokenizeTotals&) { ++delivered; });
    });
    CHECK(delivered == 0);
    return error;
  };
  const std::string rest = ", expected the same input or a folder without shards";
  CHECK(refused("{\"text\":\"b\"}\n{\"text\":\"\"}\n{\"text\":\"b\"}\n") ==
        "folder: made of other input: it differs in the first 2 documents" + rest);
  CHECK(refused("{\"text\":\"a\"}\n") == "folder: made of other input: it ends before 2 documents" + rest);
  options.only_compares = true;
  CHECK(refused("{\"text\":\"a\"}\n{\"text\":\"\"}\n") == "no error");
  CHECK(refused("{\"text\":\"a\"}\n{\"text\":\"\"}\n{\"text\":\"\"}\n") ==
        "folder: made of other input: it goes on behind its former end" + rest);
}

TEST_CASE("tokenize: without any token there is no file") {
  const ScratchFolder folder;
  const auto tokenizer = open_tokenizer("bytes");
  ShardOutput output(folder / "a.tok.zst", *tokenizer, {});
  CHECK(output.finish({}).empty());
  CHECK_FALSE(std::filesystem::exists(folder / "a.tok.zst"));
}

TEST_CASE("tokenize: shards decode to the text they came from") {
  const ScratchFolder folder;
  const std::string odd("\xef\xbb\xbf one\r\n\0 two\n\n", 16);
  for (const std::string name : {"bytes", "tests/data/tokenizers/spm-bpe-1k-bytefallback.model"}) {
    const auto tokenizer = open_tokenizer(name);
    spit(folder / "one", shard_of(*tokenizer, {odd}));
    CHECK(decoded(folder / "one", InputFormat::automatic) == odd);
    CHECK(decoded(folder / "one", InputFormat::text) == odd);
    spit(folder / "many", shard_of(*tokenizer, {"a", "b c", "\xc3\xa9"}));
    CHECK(decoded(folder / "many", InputFormat::automatic) == "a\nb c\n\xc3\xa9");
    CHECK(decoded(folder / "many", InputFormat::text) == "ab c\xc3\xa9");
    CHECK(decoded(folder / "many", InputFormat::lines) == "a\nb c\n\xc3\xa9\n");
    CHECK(decoded(folder / "many", InputFormat::jsonl) ==
          "{\"text\":\"a\"}\n{\"text\":\"b c\"}\n{\"text\":\"\xc3\xa9\"}\n");
    // cat a b
    spit(folder / "both", slurp(folder / "one") + slurp(folder / "many"));
    CHECK(decoded(folder / "both", InputFormat::text) == odd + "ab c\xc3\xa9");
  }
}

TEST_CASE("tokenize: a shard is summarised, and every byte of it checked") {
  const ScratchFolder folder;
  const auto tokenizer = small_model();
  const std::string shard = shard_of(*tokenizer, {english(200'000), "x"});
  spit(folder / "a", shard);
  const ShardSummary quick = summarise_shard(folder / "a");
  CHECK(quick.documents == 2);
  CHECK(quick.members == 1);
  CHECK(quick.file_bytes == static_cast<Index>(shard.size()));
  CHECK(quick.sha256.size() == 64);
  spit(folder / "both", shard + shard);
  CHECK(summarise_shard(folder / "both").tokens == 2 * quick.tokens);

  std::string damaged = shard;
  damaged[damaged.size() / 2] ^= 1;
  spit(folder / "damaged", damaged);
  bam::io::MemorySink sink;
  const std::string problem = error_of([&] {
    write_summaries({folder / "a", folder / "damaged", folder / "both"}, true, sink, bam::io::TableFormat::tsv, true);
  });
  CHECK(contains(problem, "damaged"));
  CHECK(is_one_line(problem));
  CHECK(contains(sink.bytes(), folder / "a\tyes\t2\t"));
  CHECK(contains(sink.bytes(), folder / "damaged\tno\t\t"));
  CHECK(contains(sink.bytes(), folder / "both\tyes\t4\t"));
}

TEST_CASE("tokenize: a learned model keeps every byte of valid UTF-8, and every digit is a piece") {
  const ScratchFolder folder;
  const std::string text = "no digits here: \xe4\xbd\xa0\xe5\xa5\xbd, \xf0\x9f\x98\x80\ttab\r\n" +
                           std::string(10'000, 'w') + "\n" + "the  cat and the  dog and the  cat\nthe cat\n";
  spit(folder / "a.txt", text);
  LearnOptions options;
  options.vocab_size = 320;
  const std::string model = learn_sentencepiece({folder / "a.txt"}, options);
  CHECK(model == learn_sentencepiece({folder / "a.txt"}, options));
  spit(folder / "a.model", model);
  const auto tokenizer = open_tokenizer(folder / "a.model");
  CHECK(tokenizer->vocab_size() == 320);
  CHECK(tokenizer->fidelity() == Fidelity::text);
  CHECK(tokenizer->bos_id() == 1);
  CHECK(tokenizer->eos_id() == Token{2});
  for (const std::string& sample :
       {text, std::string(" x"), std::string("x"), std::string("\xc3\xa9 \xf0\x9f\x8c\x8d\n\n")}) {
    CHECK(tokenizer->decode(tokenizer->encode(sample)) == sample);
  }
  CHECK(tokenizer->encode("0123456789").size() == 10);
  // No blank is put before a text, so a text ends as it would begin.
  CHECK(tokenizer->encode("the").size() + tokenizer->encode("\nthe").size() == 2 * tokenizer->encode("the").size() + 1);

  options.vocab_size = 100;
  CHECK(contains(error_of([&] { learn_sentencepiece({folder / "a.txt"}, options); }), "expected at least"));
  options.vocab_size = 100'000;
  CHECK(contains(error_of([&] { learn_sentencepiece({folder / "a.txt"}, options); }), "expected at most"));
  spit(folder / "empty.txt", "\n\n");
  CHECK(contains(error_of([&] { learn_sentencepiece({folder / "empty.txt"}, options); }), "no text to learn from"));
  CHECK(contains(error_of([&] { learn_sentencepiece({folder / "missing"}, options); }), "missing"));
}
