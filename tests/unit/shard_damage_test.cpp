// boxes: io base
#include <set>

#include "io/bytes.h"
#include "io/frame_compressor.h"
#include "io/sha256.h"
#include "io/shard_format.h"
#include "support/shards.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

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

}  // namespace

TEST_CASE("shard: what is wrong with a frame names it") {
  bam::io::ShardHeader header;
  header.vocab_size = 300;
  header.tokenizer_name = header.tokenizer_kind = "bytes";
  bam::io::MemorySink sink;
  bam::io::ShardWriter writer(sink, header, {});
  writer.append(std::vector<bam::io::Token>(3 * bam::io::kFrameTokens, 7));
  writer.finish();
  const auto problem_of = [](const std::string& bytes) {
    try {
      bam::io::ShardReader reader(bam::io::source_from_memory("x", bytes));
      while (!reader.next().empty()) {
      }
    } catch (const bam::Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string& shard = sink.bytes();
  CHECK(problem_of(shard) == "no error");
  // Frames 0 and 1 describe, 2 to 4 hold ids, 5 are the totals, 6 is the seek table.
  std::set<std::string> named;
  for (std::size_t i = 0; i < shard.size(); ++i) {
    std::string damaged = shard;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    for (const std::string& problem : {problem_of(damaged), problem_of(shard.substr(0, i))}) {
      const std::size_t place = problem.find("(frame ");
      if (place != std::string::npos) named.insert(problem.substr(place));
      CHECK((place != std::string::npos || i < 5));
    }
  }
  for (const char* frame : {"0", "1", "2", "3", "4", "5", "6"})
    CHECK(named.count(std::string("(frame ") + frame + ")") == 1);
}

TEST_CASE("shard_damage: cut at any byte it is truncated, as a stream and as a file") {
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

TEST_CASE("shard_damage: cut exactly at every frame's edge") {
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

TEST_CASE("shard_damage: a flipped byte anywhere is an error, as a stream and as a file") {
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

TEST_CASE("shard_damage: opening a file verifies everything but the ids") {
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

TEST_CASE("shard_damage: random bytes in it never crash a reader") {
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

TEST_CASE("shard_damage: other bytes around it are refused") {
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

TEST_CASE("shard_damage: content that cannot be is refused although every digest is right") {
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

TEST_CASE("shard_damage: headers that cannot be") {
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

TEST_CASE("shard_damage: a file with a seek table that promises too much") {
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

std::string sample(const std::string& folder, const std::string& name) {
  return folder + "/" + name + ".tok.zst";
}

void check_good_samples(const std::string& folder) {
  for (const GoodSample& good : kGoodSamples) {
    INFO(good.name);
    std::vector<Token> expected;
    for (Index member = 0; member < good.members; ++member) {
      const std::vector<Token> tokens = sample_tokens(good.tokens, good.vocab_size);
      expected.insert(expected.end(), tokens.begin(), tokens.end());
    }
    CHECK(read_stream(slurp(sample(folder, good.name))) == expected);
    CHECK(open_and_read(sample(folder, good.name), expected) == "no error");
    ShardFile file(sample(folder, good.name));
    CHECK(std::ssize(file.members()) == good.members);
  }
}

void check_bad_samples(const std::string& folder) {
  for (const BadSample& bad : kBadSamples) {
    INFO(bad.name);
    const std::string bytes = slurp(sample(folder, bad.name));
    REQUIRE(!bytes.empty());
    CHECK(contains(error_of([&] { read_stream(bytes); }), bad.stream_error));
    CHECK(error_of([&] { ShardFile(sample(folder, bad.name)).validate(); }) != "no error");
  }
}

void write_samples(const std::string& folder) {
  for (const GoodSample& good : kGoodSamples) {
    std::string bytes;
    for (Index member = 0; member < good.members; ++member) {
      bytes += shard_of(sample_tokens(good.tokens, good.vocab_size), header_of(good.vocab_size));
    }
    spit(sample(folder, good.name), bytes);
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
  spit(sample(folder, "bad-cut-in-frame"), good.substr(0, (data + totals) / 2));
  spit(sample(folder, "bad-cut-before-totals"), good.substr(0, totals));
  spit(sample(folder, "bad-cut-before-seek-table"), good.substr(0, table));
  spit(sample(folder, "bad-flipped-id"), flipped(data + 30));
  spit(sample(folder, "bad-flipped-header"), flipped(good.find("\"bos_id\":1") + 9));
  spit(sample(folder, "bad-id-outside-vocabulary"), outside.bytes());
  spit(sample(folder, "bad-members-differ"), good + shard_of({kBos}, header_of(301)));
  spit(sample(folder, "bad-bytes-behind"), good + plain);
  spit(sample(folder, "bad-plain-zstd"), plain);
}

}  // namespace

// Samples in the repository hold the format still: what was a shard once stays one.
TEST_CASE("shard_damage: the good samples are read as ever") {
  check_good_samples(kSampleFolder);
}

TEST_CASE("shard_damage: the bad samples are refused, and it is said why") {
  check_bad_samples(kSampleFolder);
}

// After a deliberate change of the format BAM_SAMPLE_DIR=tests/data/shard puts them in place of the old ones.
TEST_CASE("shard_damage: samples made anew are judged like those kept") {
  const ScratchFolder scratch;
  const char* wanted = std::getenv("BAM_SAMPLE_DIR");
  const std::string folder = wanted != nullptr ? wanted : scratch.path();
  write_samples(folder);
  check_good_samples(folder);
  check_bad_samples(folder);
}
