// boxes: io base
#include "io/shard.h"

#include <sys/stat.h>

#include <cstdlib>
#include <thread>

#include "base/rng.h"
#include "io/bytes.h"
#include "io/frame_compressor.h"
#include "io/sha256.h"
#include "io/shard_format.h"
#include "support/catch.h"
#include "support/files.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

constexpr Token kBos = 1;

ShardHeader header_of(Index vocab_size) {
  ShardHeader header;
  header.width = ShardHeader::width_for(vocab_size);
  header.vocab_size = vocab_size;
  header.bos_id = kBos;
  header.eos_id = 2;
  header.tokenizer_name = "test";
  header.tokenizer_kind = "bytes";
  return header;
}

const std::vector<TokenizerFile> kFiles = {{"a.model", std::string("\0\1\2", 3)}, {"empty", ""}};

std::vector<Token> some_tokens(Index count, Index vocab_size, std::uint64_t seed = 1) {
  bam::Rng rng(seed);
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i) {
    const bool starts = i == 0 || rng.below(20) == 0;
    tokens.push_back(starts ? kBos : static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab_size))));
  }
  return tokens;
}

std::string shard_of(const std::vector<Token>& tokens, const ShardHeader& header, ShardWriter::Options options = {},
                     ShardTotals* totals = nullptr) {
  MemorySink sink;
  ShardWriter writer(sink, header, kFiles, options);
  bam::Rng rng(3);
  for (std::span<const Token> rest = tokens; !rest.empty();) {
    const std::size_t count = std::min(rest.size(), static_cast<std::size_t>(rng.below(50000)));
    writer.append(rest.first(count));
    rest = rest.subspan(count);
  }
  const ShardTotals written = writer.finish();
  if (totals != nullptr) *totals = written;
  return sink.bytes();
}

std::vector<Token> read_stream(const std::string& bytes) {
  ShardReader reader(source_from_memory("input", bytes));
  std::vector<Token> tokens;
  for (std::span<const Token> piece = reader.next(); !piece.empty(); piece = reader.next()) {
    tokens.insert(tokens.end(), piece.begin(), piece.end());
  }
  CHECK(reader.next().empty());
  CHECK(reader.tokens() == std::ssize(tokens));
  CHECK(reader.documents() == std::count(tokens.begin(), tokens.end(), kBos));
  return tokens;
}

std::vector<Token> read_random(ShardFile& file) {
  std::vector<Token> tokens(static_cast<std::size_t>(file.tokens()));
  file.read(0, tokens);
  return tokens;
}

// A shard put together by hand, with every digest right, so that only the checks of its content can refuse it.
struct Forgery {
  ShardHeader header = header_of(100);
  std::string blob = pack_tokenizer_files(kFiles);
  std::vector<std::pair<std::string, std::uint32_t>> frames;  // compressed, content size in the seek table
  Index tokens = 0;
  Index documents = 0;

  Forgery() {
    header.frame_tokens = 20;
    header.tokenizer_sha256 = sha256_hex(blob);
  }

  void add(const std::vector<Token>& ids) {
    std::string content;
    for (const Token id : ids) {
      content += static_cast<char>(id & 0xFF);
      content += static_cast<char>(id >> 8);
    }
    FrameCompressor compressor(3, 1);
    compressor.submit(content);
    frames.emplace_back(compressor.take().compressed, static_cast<std::uint32_t>(content.size()));
    tokens += std::ssize(ids);
    documents += std::count(ids.begin(), ids.end(), header.bos_id);
  }

  std::string bytes() const {
    const std::string head =
        shard_format::skippable_frame(shard_format::kHeaderMagic, shard_format::encode_header(header));
    const std::string files = shard_format::skippable_frame(shard_format::kTokenizerMagic, blob);
    std::string all = head + files;
    std::vector<shard_format::SeekEntry> entries = {{static_cast<std::uint32_t>(head.size()), 0},
                                                    {static_cast<std::uint32_t>(files.size()), 0}};
    for (const auto& [compressed, content] : frames) {
      entries.push_back({static_cast<std::uint32_t>(compressed.size()), content});
      all += compressed;
    }
    Sha256 digest;
    digest.update(all);
    Sha256 index;
    index.update(head + files);
    const auto tail = shard_format::make_tail(tokens, documents, entries, std::move(digest), std::move(index));
    return all + tail.totals_frame + tail.seek_table_frame;
  }
};

// Everything a file of these bytes says at random access, or the error.
std::string open_and_read(const std::string& path, const std::vector<Token>& expected) {
  return error_of([&] {
    ShardFile file(path);
    if (read_random(file) != expected) throw bam::Error("other tokens");
    file.validate();
  });
}

}  // namespace

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

TEST_CASE("shard: cut at any byte it is truncated, as a stream and as a file") {
  const ScratchFolder folder;
  const std::vector<Token> tokens = some_tokens(2 * kFrameTokens + 9, 4);
  const std::string bytes = shard_of(tokens, header_of(4));
  const std::string path = folder / "cut";
  spit(path, bytes);
  for (std::size_t cut = bytes.size(); cut-- > 0;) {
    if (cut > 700 && cut + 700 < bytes.size() && cut % 53 != 0) continue;
    INFO("cut after " << cut << " of " << bytes.size());
    const std::string part = bytes.substr(0, cut);
    const std::string stream_error = error_of([&] { read_stream(part); });
    const char* expected = cut == 0 ? "input: empty, expected a token shard" : "input: truncated shard";
    CHECK(contains(stream_error, expected));
    CHECK(is_one_line(stream_error));
    if (cut > 0 && cut % 11 == 0) CHECK(contains(error_of([&] { read_stream(bytes + part); }), "truncated shard"));
    std::filesystem::resize_file(path, cut);
    CHECK(contains(error_of([&] { ShardFile file(path); }), cut == 0 ? "empty" : "truncated shard"));
  }
}

TEST_CASE("shard: cut exactly at every frame's edge") {
  const std::string bytes = shard_of(some_tokens(4 * kFrameTokens, 4), header_of(4));
  int edges = 0;
  for (std::size_t i = 1; i + 4 < bytes.size(); ++i) {
    const std::string_view here = std::string_view(bytes).substr(i, 4);
    if (here != "\x28\xB5\x2F\xFD" && here != "\x52\x2A\x4D\x18" && here != "\x5E\x2A\x4D\x18") continue;
    ++edges;
    CHECK(contains(error_of([&] { read_stream(bytes.substr(0, i)); }), "truncated shard"));
  }
  CHECK(edges >= 6);
}

TEST_CASE("shard: a flipped byte anywhere is an error, as a stream and as a file") {
  const ScratchFolder folder;
  const std::vector<Token> tokens = some_tokens(300, 200);
  const std::string bytes = shard_of(tokens, header_of(200));
  const std::string path = folder / "flipped";
  spit(path, bytes);
  REQUIRE(open_and_read(path, tokens) == "no error");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const int mask : {0x01, 0x10, 0xFF}) {
      INFO("byte " << i << " of " << bytes.size() << ", mask " << mask);
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      const std::string error = error_of([&] { read_stream(damaged); });
      CHECK(error != "no error");
      CHECK(is_one_line(error));
      patch(path, i, damaged.substr(i, 1));
      const std::string file_error = open_and_read(path, tokens);
      CHECK(file_error != "no error");
      CHECK(file_error != "other tokens");
    }
    patch(path, i, bytes.substr(i, 1));
  }
}

TEST_CASE("shard: opening a file verifies everything but the ids") {
  const ScratchFolder folder;
  const std::string bytes = shard_of(some_tokens(300, 200), header_of(200));
  const std::size_t data = bytes.find("\x28\xB5\x2F\xFD");
  const std::size_t totals = bytes.find("\x52\x2A\x4D\x18");
  REQUIRE(data < totals);
  spit(folder / "x", bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= data && i < totals) continue;
    patch(folder / "x", i, std::string(1, static_cast<char>(bytes[i] ^ 0x04)));
    INFO("byte " << i);
    CHECK(error_of([&] { ShardFile file(folder / "x"); }) != "no error");
    patch(folder / "x", i, bytes.substr(i, 1));
  }
  CHECK(error_of([&] { ShardFile file(folder / "x"); }) == "no error");
}

TEST_CASE("shard: random bytes in it never crash a reader") {
  const ScratchFolder folder;
  const std::string bytes = shard_of(some_tokens(2000, 200), header_of(200));
  spit(folder / "x", bytes);
  bam::Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    const auto begin = static_cast<std::size_t>(rng.below(bytes.size()));
    const auto count = std::min(bytes.size() - begin, static_cast<std::size_t>(rng.below(12) + 1));
    for (std::size_t i = 0; i < count; ++i) damaged[begin + i] = static_cast<char>(rng.below(256));
    if (damaged == bytes) continue;
    CHECK(error_of([&] { read_stream(damaged); }) != "no error");
    patch(folder / "x", begin, damaged.substr(begin, count));
    CHECK(error_of([&] { ShardFile(folder / "x").validate(); }) != "no error");
    patch(folder / "x", begin, bytes.substr(begin, count));
  }
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
    CHECK(error_of([&] { read_stream(both); }) == "input: member 2: differs from the first in " + difference);
    spit(folder / "both", both);
    CHECK(contains(error_of([&] { ShardFile file(folder / "both"); }), "differs from the first in " + difference));
  }
  MemorySink sink;
  ShardWriter(sink, first, {{"a.model", "other"}}).finish();
  CHECK(contains(error_of([&] { read_stream(shard_of({kBos}, first) + sink.bytes()); }), "tokenizer sha256"));
}

TEST_CASE("shard: other bytes around it are refused") {
  const ScratchFolder folder;
  const std::string shard = shard_of(some_tokens(100, 50), header_of(50));
  CHECK(contains(error_of([&] { read_stream("plain text"); }), "not a token shard"));
  CHECK(contains(error_of([&] { read_stream(shard + "x"); }), "truncated shard"));
  CHECK(contains(error_of([&] { read_stream(shard + "more bytes"); }), "damaged shard"));
  spit(folder / "x", shard + "more bytes that are no shard");
  CHECK(contains(error_of([&] { ShardFile file(folder / "x"); }), "truncated shard"));
  spit(folder / "x", "plain text");
  CHECK(contains(error_of([&] { ShardFile file(folder / "x"); }), "not a token shard"));
  spit(folder / "x", shard.substr(8) + shard);
  CHECK(error_of([&] { ShardFile file(folder / "x"); }) != "no error");
  CHECK(contains(error_of([&] { ShardFile file(folder.path()); }), "is a directory"));
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

TEST_CASE("shard: content that cannot be is refused although every digest is right") {
  const ScratchFolder folder;
  const std::vector<Token> full = some_tokens(20, 100);
  const auto check = [&](const Forgery& forgery, const std::string& complaint) {
    INFO(complaint);
    const std::string bytes = forgery.bytes();
    CHECK(contains(error_of([&] { read_stream(bytes); }), complaint));
    spit(folder / "x", bytes);
    CHECK(error_of([&] {
            ShardFile file(folder / "x");
            read_random(file);
            file.validate();
          }) != "no error");
  };
  Forgery good;
  good.add(full);
  good.add({kBos, 5});
  spit(folder / "good", good.bytes());
  CHECK(read_stream(good.bytes()).size() == 22);
  CHECK(error_of([&] { ShardFile(folder / "good").validate(); }) == "no error");

  Forgery id = good;
  id.frames.pop_back();
  id.add({kBos, 100});
  id.tokens = 22;
  check(id, "token id 100, expected less than vocab_size 100");
  Forgery early;
  early.add({kBos, 5});
  early.add(full);
  check(early, "a short frame that is not the last");
  Forgery large;
  large.add(some_tokens(21, 100));
  check(large, "a data frame of 42 bytes, expected ids of 2 bytes, 1 to 20");
  Forgery tokens = good;
  tokens.tokens = 23;
  check(tokens, "22 tokens in " + std::to_string(good.documents) + " documents, expected 23 tokens");
  Forgery documents = good;
  documents.documents += 1;
  check(documents, "documents, expected 22 tokens in " + std::to_string(good.documents + 1));
  Forgery unchecked = good;
  unchecked.frames[0].first[4] = static_cast<char>(unchecked.frames[0].first[4] ^ 4);
  unchecked.frames[0].first.resize(unchecked.frames[0].first.size() - 4);
  check(unchecked, "expected a zstd frame with a checksum");
  Forgery lie = good;
  lie.frames[0].first[5] = 38;  // content size in the frame's head, and in the seek table
  lie.frames[0].second = 38;
  lie.frames.pop_back();
  lie.tokens = 19;
  check(lie, "damaged shard");
  Forgery files = good;
  files.blob = pack_tokenizer_files({});
  check(files, "the tokenizer's files do not have the digest of the header");
  Forgery no_list = good;
  no_list.blob = "no list";
  no_list.header.tokenizer_sha256 = sha256_hex(no_list.blob);
  check(no_list, "damaged list of tokenizer files");
  Forgery entry = good;
  entry.frames[1].second = 6;
  check(entry, "its bytes do not have its digest");
}

TEST_CASE("shard: headers that cannot be") {
  const std::string good = shard_format::encode_header([] {
    ShardHeader header = header_of(100);
    header.frame_tokens = 20;
    return header;
  }());
  CHECK(shard_format::decode_header(good, "x").vocab_size == 100);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    REQUIRE(contains(json, from));
    json.replace(json.find(from), from.size(), to);
    return error_of([&] { shard_format::decode_header(json, "x"); });
  };
  CHECK(contains(changed("bam-tokens", "other"), "x: not a token shard"));
  CHECK(changed("\"version\":1", "\"version\":2") == "x: token shard of version 2, expected version 1");
  CHECK(changed("\"u16\"", "\"u8\"") == "x: ids of type 'u8', expected u16 or u32");
  CHECK(contains(changed("\"vocab_size\":100", "\"vocab_size\":65537"), "vocab_size 65537, expected 1 to 65536"));
  CHECK(contains(changed("\"vocab_size\":100", "\"vocab_size\":0"), "vocab_size 0"));
  CHECK(contains(changed("\"vocab_size\":100", "\"vocab_size\":1e3"), "expected an integer named 'vocab_size'"));
  CHECK(contains(changed("\"bos_id\":1", "\"bos_id\":-1"), "special token id -1"));
  CHECK(contains(changed("\"bos_id\":1", "\"bos_id\":null"), "expected an integer named 'bos_id'"));
  CHECK(contains(changed("\"eos_id\":2", "\"eos_id\":100"), "special token id 100, expected less than vocab_size 100"));
  CHECK(contains(changed("\"eos_id\":2", "\"eos_id\":9999999999"), "special token id 9999999999"));
  CHECK(contains(changed("\"eos_id\":2,", ""), "named 'eos_id'"));
  CHECK(contains(changed("\"frame_tokens\":20", "\"frame_tokens\":9999999"), "frame_tokens 9999999"));
  CHECK(contains(changed("\"kind\":\"bytes\"", "\"kind\":7"), "expected a string named 'kind'"));
  CHECK(contains(changed("{", "["), "expected a JSON object"));
  CHECK(changed("\"version\":1", "\"version\":1,\"later\":[1,{}]") == "no error");
  for (const std::string& json : {std::string(), std::string("7"), std::string("{}"), std::string(60000, '[')}) {
    CHECK(error_of([&] { shard_format::decode_header(json, "x"); }) != "no error");
  }
}

TEST_CASE("shard: a file with a seek table that promises too much") {
  const ScratchFolder folder;
  Forgery good;
  good.add(some_tokens(20, 100));
  const std::string bytes = good.bytes();
  const auto with_table = [&](const std::vector<shard_format::SeekEntry>& entries) {
    spit(folder / "x", bytes + shard_format::encode_seek_table(entries));
    return error_of([&] { ShardFile file(folder / "x"); });
  };
  constexpr std::uint32_t kMost = 0xFFFFFFFF;
  CHECK(contains(with_table({{kMost, 0}, {kMost, 0}, {kMost, kMost}, {kMost, 0}}), "truncated shard"));
  CHECK(contains(with_table({{kMost, 0}}), "a seek table of 1 frames"));
  CHECK(contains(with_table({{0, 0}, {0, 0}, {0, 0}}), "damaged shard"));
  CHECK(contains(with_table({{8, 0}, {8, 0}, {8, 0}}), "damaged shard"));
  for (const std::uint32_t count : {3U, 1000U, kMost}) {
    std::string footer;
    append_u32(footer, count);
    footer += '\0';
    append_u32(footer, shard_format::kSeekFooterMagic);
    spit(folder / "x", bytes + footer);
    CHECK(contains(error_of([&] { ShardFile file(folder / "x"); }), "damaged shard"));
  }
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
  CHECK(tokenizer_digest({}) == sha256_hex(std::string(4, '\0')));
}

namespace {

constexpr const char* kSampleFolder = "tests/data/shard";

// The ids of every good sample follow this rule.
std::vector<Token> sample_tokens(Index count, Index vocab_size) {
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i)
    tokens.push_back(i % 50 == 0 ? kBos : static_cast<Token>(3 + i * 7919 % (vocab_size - 3)));
  return tokens;
}

struct GoodSample {
  const char* name;
  Index vocab_size;
  Index tokens;  // of each member
  Index members;
};

const std::vector<GoodSample> kGoodSamples = {{"good-u16", 300, 200, 1},
                                              {"good-u32", 70000, 120, 1},
                                              {"good-empty", 300, 0, 1},
                                              {"good-three-members", 300, 60, 3}};

struct BadSample {
  const char* name;
  const char* stream_error;
};

const std::vector<BadSample> kBadSamples = {
    {"bad-cut-in-frame", "truncated shard"},
    {"bad-cut-before-totals", "truncated shard"},
    {"bad-cut-before-seek-table", "truncated shard"},
    {"bad-flipped-id", "damaged shard"},
    {"bad-flipped-header", "damaged shard"},
    {"bad-id-outside-vocabulary", "token id 299, expected less than vocab_size 200"},
    {"bad-members-differ", "member 2: differs from the first in vocab_size"},
    {"bad-bytes-behind", "damaged shard"},
    {"bad-plain-zstd", "not a token shard"}};

std::string sample(const std::string& name) {
  return std::string(kSampleFolder) + "/" + name + ".tok.zst";
}

}  // namespace

// Samples in the repository hold the format still: what was a shard once stays one.
TEST_CASE("shard: the good samples are read as ever") {
  for (const GoodSample& good : kGoodSamples) {
    INFO(good.name);
    std::vector<Token> expected;
    for (Index member = 0; member < good.members; ++member) {
      const std::vector<Token> tokens = sample_tokens(good.tokens, good.vocab_size);
      expected.insert(expected.end(), tokens.begin(), tokens.end());
    }
    CHECK(read_stream(slurp(sample(good.name))) == expected);
    CHECK(open_and_read(sample(good.name), expected) == "no error");
    ShardFile file(sample(good.name));
    CHECK(std::ssize(file.members()) == good.members);
  }
}

TEST_CASE("shard: the bad samples are refused, and it is said why") {
  for (const BadSample& bad : kBadSamples) {
    INFO(bad.name);
    const std::string bytes = slurp(sample(bad.name));
    REQUIRE(!bytes.empty());
    CHECK(contains(error_of([&] { read_stream(bytes); }), bad.stream_error));
    CHECK(error_of([&] { ShardFile(sample(bad.name)).validate(); }) != "no error");
  }
}

// Hidden: run by name to make the samples anew after a deliberate change of the format.
TEST_CASE("shard: write the samples", "[.]") {
  std::filesystem::create_directories(kSampleFolder);
  for (const GoodSample& good : kGoodSamples) {
    std::string bytes;
    for (Index member = 0; member < good.members; ++member) {
      bytes += shard_of(sample_tokens(good.tokens, good.vocab_size), header_of(good.vocab_size));
    }
    spit(sample(good.name), bytes);
  }
  const std::string good = shard_of(sample_tokens(200, 300), header_of(300));
  const std::size_t data = good.find("\x28\xB5\x2F\xFD");
  const std::size_t totals = good.find("\x52\x2A\x4D\x18");
  const std::size_t table = good.find("\x5E\x2A\x4D\x18");
  const auto flipped = [&](std::size_t place) {
    std::string bytes = good;
    bytes[place] = static_cast<char>(bytes[place] ^ 1);
    return bytes;
  };
  Forgery outside;
  outside.header.vocab_size = 200;
  outside.header.frame_tokens = kFrameTokens;
  outside.add({kBos, 299});
  const std::string plain = good.substr(data, totals - data);
  spit(sample("bad-cut-in-frame"), good.substr(0, (data + totals) / 2));
  spit(sample("bad-cut-before-totals"), good.substr(0, totals));
  spit(sample("bad-cut-before-seek-table"), good.substr(0, table));
  spit(sample("bad-flipped-id"), flipped(data + 30));
  spit(sample("bad-flipped-header"), flipped(good.find("\"bos_id\":1") + 9));
  spit(sample("bad-id-outside-vocabulary"), outside.bytes());
  spit(sample("bad-members-differ"), good + shard_of({kBos}, header_of(301)));
  spit(sample("bad-bytes-behind"), good + plain);
  spit(sample("bad-plain-zstd"), plain);
}
