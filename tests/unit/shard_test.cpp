// boxes: io base
#include "io/shard.h"

#include <sys/stat.h>

#include <cstdlib>
#include <thread>

#include "io/sha256.h"
#include "support/shards.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

TEST_CASE("shard: tokens come back, of either width and any number") {
  const ScratchFolder folder;
  for (const Index vocab_size : {Index{300}, Index{65536}, Index{65537}}) {
    for (const Index count :
         {Index{0}, Index{1}, Index{5}, kFrameTokens - 1, kFrameTokens, kFrameTokens + 1, 3 * kFrameTokens}) {
      INFO("vocabulary " << vocab_size << ", " << count << " tokens");
      const std::vector<Token> tokens = some_tokens(count, vocab_size);
      ShardTotals totals;
      const std::string bytes = shard_of(tokens, header_of(vocab_size), {}, &totals);
      CHECK(read_stream(bytes) == tokens);
      spit(folder / "shard", bytes);
      ShardFile file(folder / "shard");
      CHECK(file.tokens() == count);
      CHECK(read_random(file) == tokens);
      file.validate();
      CHECK(file.documents() == std::count(tokens.begin(), tokens.end(), kBos));
      CHECK(totals.tokens == count);
      CHECK(totals.documents == file.documents());
      CHECK(file.digest() == totals.sha256);
    }
  }
}

TEST_CASE("shard: the header and the tokenizer come back") {
  ShardHeader header = header_of(70000);
  header.eos_id.reset();
  header.tokenizer_name = "na\"me\n";
  ShardReader reader(source_from_memory("input", shard_of({kBos}, header)));
  CHECK(reader.header().width == TokenWidth::u32);
  CHECK(reader.header().vocab_size == 70000);
  CHECK(reader.header().bos_id == kBos);
  CHECK(!reader.header().eos_id);
  CHECK(reader.header().tokenizer_name == "na\"me\n");
  CHECK(reader.header().tokenizer_sha256 == tokenizer_digest(kFiles));
  CHECK(reader.header().frame_tokens == kFrameTokens);
  REQUIRE(reader.tokenizer_files().size() == 2);
  CHECK(reader.tokenizer_files()[0].name == "a.model");
  CHECK(reader.tokenizer_files()[0].bytes == kFiles[0].bytes);
  CHECK(reader.tokenizer_files()[1].bytes.empty());
}

TEST_CASE("shard: the bytes do not depend on threads or on how tokens arrive, but on the level") {
  const std::vector<Token> tokens = some_tokens(9 * kFrameTokens + 77, 32768);
  const ShardHeader header = header_of(32768);
  const std::string one = shard_of(tokens, header, {9, 1});
  CHECK(shard_of(tokens, header, {9, 3}) == one);
  CHECK(shard_of(tokens, header, {9, 8}) == one);
  CHECK(shard_of(tokens, header, {1, 1}) != one);
  MemorySink sink;
  ShardWriter writer(sink, header, kFiles);
  writer.append(tokens);
  writer.finish();
  CHECK(sink.bytes() == one);
}

TEST_CASE("shard: shards put one behind the other are one") {
  const ScratchFolder folder;
  std::string all;
  std::vector<Token> tokens;
  std::string digests;
  for (const Index count : {Index{40000}, Index{0}, Index{7}, Index{70000}}) {
    const std::vector<Token> part = some_tokens(count, 300, static_cast<std::uint64_t>(count));
    ShardTotals totals;
    all += shard_of(part, header_of(300), {}, &totals);
    digests += totals.sha256;
    tokens.insert(tokens.end(), part.begin(), part.end());
  }
  CHECK(read_stream(all) == tokens);
  spit(folder / "all", all);
  ShardFile file(folder / "all");
  CHECK(file.members().size() == 4);
  CHECK(file.tokens() == std::ssize(tokens));
  CHECK(read_random(file) == tokens);
  CHECK(file.digest() == sha256_hex(digests));
  file.validate();
}

TEST_CASE("shard: members whose headers differ are refused, and the difference is named") {
  const ScratchFolder folder;
  const ShardHeader first = header_of(300);
  ShardHeader vocab = header_of(301);
  ShardHeader width = first;
  width.width = TokenWidth::u32;
  ShardHeader bos = first;
  bos.bos_id = 5;
  ShardHeader eos = first;
  eos.eos_id.reset();
  ShardHeader kind = first;
  kind.tokenizer_kind = "sentencepiece";
  const std::vector<std::pair<ShardHeader, std::string>> cases = {{vocab, "vocab_size 300 and 301"},
                                                                  {width, "dtype u16 and u32"},
                                                                  {bos, "bos_id 1 and 5"},
                                                                  {eos, "eos_id 2 and none"},
                                                                  {kind, "tokenizer kind bytes and sentencepiece"}};
  for (const auto& [other, difference] : cases) {
    const std::string both = shard_of({kBos}, first) + shard_of({kBos}, other);
    CHECK(error_of([&] { read_stream(both); }) ==
          "input: member 2: differs from the first in " + difference + " (frame 1 of member 2)");
    spit(folder / "both", both);
    CHECK(contains(error_of([&] { ShardFile file(folder / "both"); }), "differs from the first in " + difference));
  }
  MemorySink sink;
  ShardWriter(sink, first, {{"a.model", "other"}}).finish();
  CHECK(contains(error_of([&] { read_stream(shard_of({kBos}, first) + sink.bytes()); }), "tokenizer sha256"));
}

TEST_CASE("shard: reads at random offsets, with a cache of one frame and of many") {
  const ScratchFolder folder;
  const std::vector<Token> tokens = some_tokens(10 * kFrameTokens + 13, 32768);
  spit(folder / "shard", shard_of(tokens, header_of(32768)));
  for (const Index cache_bytes : {Index{0}, Index{1} << 20, Index{1} << 30}) {
    ShardFile file(folder / "shard", cache_bytes);
    bam::Rng rng(5);
    for (int round = 0; round < 300; ++round) {
      const Index first = static_cast<Index>(rng.below(tokens.size() + 1));
      const Index most = std::min<Index>(file.tokens() - first, round % 10 == 0 ? 3 * kFrameTokens : 600);
      std::vector<Token> out(rng.below(static_cast<std::uint64_t>(most) + 1));
      file.read(first, out);
      CHECK(std::equal(out.begin(), out.end(), tokens.begin() + first));
    }
    std::vector<Token> out(2);
    CHECK(contains(error_of([&] { file.read(file.tokens() - 1, out); }), "asked for, expected at most"));
    CHECK(contains(error_of([&] { file.read(-1, out); }), "asked for"));
  }
}

TEST_CASE("shard: ids outside the vocabulary are refused by the writer and by the readers") {
  MemorySink sink;
  ShardWriter writer(sink, header_of(100), kFiles);
  for (const Token bad : {-1, 100, 1 << 30}) {
    const std::vector<Token> tokens = {5, bad};
    CHECK(contains(error_of([&] { writer.append(tokens); }), "token id " + std::to_string(bad)));
  }
  CHECK(writer.tokens() == 0);
  for (const Index vocab_size : {Index{0}, Index{-1}, Index{65537}, Index{1} << 40}) {
    ShardHeader header = header_of(100);
    header.vocab_size = vocab_size;
    CHECK(contains(error_of([&] { shard_of({}, header); }), "vocab_size"));
  }
  ShardHeader bos = header_of(100);
  bos.bos_id = 100;
  CHECK(contains(error_of([&] { shard_of({}, bos); }), "special token id 100"));
}

TEST_CASE("shard: options outside their range are usage errors") {
  CHECK_THROWS_AS(shard_of({}, header_of(10), {0, 1}), bam::UsageError);
  CHECK_THROWS_AS(shard_of({}, header_of(10), {20, 1}), bam::UsageError);
  CHECK_THROWS_AS(shard_of({}, header_of(10), {9, 0}), bam::UsageError);
}

TEST_CASE("shard: through a FIFO, and never by random access from one") {
  const ScratchFolder folder;
  const std::string path = folder / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const std::vector<Token> tokens = some_tokens(200000, 32768);
  const std::string bytes = shard_of(tokens, header_of(32768));
  std::vector<Token> got;
  std::thread writer([&] { spit(path, bytes); });
  ShardReader reader(path);
  for (std::span<const Token> piece = reader.next(); !piece.empty(); piece = reader.next()) {
    got.insert(got.end(), piece.begin(), piece.end());
  }
  writer.join();
  CHECK(got == tokens);
}

TEST_CASE("shard: the zstd program accepts it and gives the raw ids") {
  if (std::system("zstd --version >/dev/null 2>&1") != 0) return skip("no zstd program");
  const ScratchFolder folder;
  for (const Index vocab_size : {Index{1000}, Index{100000}}) {
    const std::vector<Token> tokens = some_tokens(90000, vocab_size);
    const std::string shard = shard_of(tokens, header_of(vocab_size));
    spit(folder / "x.tok.zst", shard + shard);
    CHECK(std::system(("zstd -tq " + (folder / "x.tok.zst")).c_str()) == 0);
    CHECK(std::system(("zstd -dcq " + (folder / "x.tok.zst") + " >" + (folder / "raw")).c_str()) == 0);
    std::string raw;
    for (const Token id : tokens) {
      for (int byte = 0; byte < (vocab_size > 65536 ? 4 : 2); ++byte) raw += static_cast<char>(id >> (8 * byte) & 0xFF);
    }
    CHECK(slurp(folder / "raw") == raw + raw);
  }
}

TEST_CASE("shard: lists of tokenizer files that are not exactly one") {
  const std::string blob = pack_tokenizer_files(kFiles);
  CHECK(unpack_tokenizer_files(blob, "x").size() == 2);
  for (std::size_t cut = 0; cut < blob.size(); ++cut) {
    CHECK(contains(error_of([&] { unpack_tokenizer_files(blob.substr(0, cut), "x"); }), "x: damaged list"));
  }
  CHECK(contains(error_of([&] { unpack_tokenizer_files(blob + "x", "x"); }), "x: damaged list"));
  CHECK(contains(error_of([&] { unpack_tokenizer_files(std::string(4, '\xFF'), "x"); }), "x: damaged list"));
  CHECK(contains(error_of([] { pack_tokenizer_files({{"a/b", ""}}); }), "not a plain file name"));
  CHECK(contains(error_of([] { pack_tokenizer_files({{"a", "1"}, {"b", ""}, {"a", "2"}}); }), "two tokenizer files"));
  CHECK(pack_tokenizer_files({{"b", "2"}, {"a", "1"}}) == pack_tokenizer_files({{"a", "1"}, {"b", "2"}}));
  std::string swapped = pack_tokenizer_files({{"a", ""}, {"b", ""}});
  std::swap(swapped[8], swapped[21]);
  CHECK(contains(error_of([&] { unpack_tokenizer_files(swapped, "x"); }), "x: damaged list"));
  CHECK(tokenizer_digest({}) == sha256_hex(std::string(4, '\0')));
}
