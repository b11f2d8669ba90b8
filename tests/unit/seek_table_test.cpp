// boxes: io base
// The seek table against the published layouts alone (RFC 8878, and "Zstandard Seekable Format" 0.1.0), read here
// without any code of ours or of libzstd: what any other reader of that format sees.
#include <cstdlib>

#include "support/shards.h"

using bam::Index;
using namespace bam::io;
using namespace bam::test;

namespace {

struct Frame {
  std::size_t begin = 0;
  std::size_t bytes = 0;
  std::size_t content = 0;  // 0 for a skippable frame
  bool skippable = false;
};

std::uint64_t number_at(const std::string& bytes, std::size_t at, int width) {
  REQUIRE(at + static_cast<std::size_t>(width) <= bytes.size());
  std::uint64_t value = 0;
  for (int i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

// A zstd frame from its head through its blocks.
Frame zstd_frame(const std::string& bytes, std::size_t begin) {
  std::size_t at = begin + 4;
  const auto descriptor = static_cast<unsigned>(number_at(bytes, at++, 1));
  const bool single_segment = (descriptor & 0x20U) != 0;
  CHECK((descriptor & 0x04U) != 0);  // a checksum
  CHECK((descriptor & 0x03U) == 0);  // no dictionary
  if (!single_segment) ++at;         // window
  const int size_bytes = std::array<int, 4>{single_segment ? 1 : 0, 2, 4, 8}[descriptor >> 6U];
  REQUIRE(size_bytes > 0);
  const std::uint64_t content = number_at(bytes, at, size_bytes) + (size_bytes == 2 ? 256 : 0);
  at += static_cast<std::size_t>(size_bytes);
  for (bool last = false; !last;) {
    const std::uint64_t head = number_at(bytes, at, 3);
    last = (head & 1U) != 0;
    const std::uint64_t kind = head >> 1U & 3U;
    REQUIRE(kind < 3);
    at += 3 + (kind == 1 ? 1 : static_cast<std::size_t>(head >> 3U));  // 1: one byte, repeated
  }
  return {begin, at + 4 - begin, static_cast<std::size_t>(content), false};
}

std::vector<Frame> frames_of(const std::string& bytes) {
  std::vector<Frame> frames;
  for (std::size_t at = 0; at < bytes.size(); at += frames.back().bytes) {
    const std::uint64_t magic = number_at(bytes, at, 4);
    if (magic >= 0x184D2A50 && magic <= 0x184D2A5F) {
      frames.push_back({at, 8 + static_cast<std::size_t>(number_at(bytes, at + 4, 4)), 0, true});
    } else {
      REQUIRE(magic == 0xFD2FB528);
      frames.push_back(zstd_frame(bytes, at));
    }
    REQUIRE(at + frames.back().bytes <= bytes.size());
  }
  return frames;
}

// The frames that the seek table at the end of bytes[0, end) lists, placed by its sizes alone. `begin` becomes where
// the first of them must be.
std::vector<Frame> listed_frames(const std::string& bytes, std::size_t end, std::size_t& begin) {
  REQUIRE(end >= 17);
  CHECK(number_at(bytes, end - 4, 4) == 0x8F92EAB1);
  const std::uint64_t flags = number_at(bytes, end - 5, 1);
  CHECK((flags & 0x7CU) == 0);
  const std::size_t entry_bytes = (flags & 0x80U) != 0 ? 12 : 8;
  const std::size_t count = number_at(bytes, end - 9, 4);
  const std::size_t table_bytes = count * entry_bytes + 9;
  REQUIRE(end >= table_bytes + 8);
  const std::size_t table = end - table_bytes - 8;
  CHECK(number_at(bytes, table, 4) == 0x184D2A5E);
  CHECK(number_at(bytes, table + 4, 4) == table_bytes);
  std::vector<Frame> frames;
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = table + 8 + i * entry_bytes;
    frames.push_back({all, number_at(bytes, entry, 4), number_at(bytes, entry + 4, 4), false});
    all += frames.back().bytes;
  }
  REQUIRE(all <= table);
  begin = table - all;
  for (Frame& frame : frames) frame.begin += begin;
  return frames;
}

std::string raw_ids(const std::vector<Token>& tokens, int width) {
  std::string raw;
  for (const Token id : tokens) {
    for (int byte = 0; byte < width; ++byte) raw += static_cast<char>(id >> (8 * byte) & 0xFF);
  }
  return raw;
}

void check_listed(const std::string& shard, const std::vector<Frame>& listed, const std::vector<Frame>& real,
                  std::size_t first) {
  for (std::size_t i = 0; i < listed.size(); ++i) {
    INFO("frame " << i << " of " << listed.size() << ", shard of " << shard.size() << " bytes");
    REQUIRE(first + i < real.size());
    CHECK(listed[i].begin == real[first + i].begin);
    CHECK(listed[i].bytes == real[first + i].bytes);
    CHECK(listed[i].content == real[first + i].content);
  }
}

}  // namespace

TEST_CASE("seek_table: it lists every frame before it with its sizes") {
  for (const Index vocab_size : {Index{1000}, Index{100000}}) {
    for (const Index count : {Index{0}, Index{1}, kFrameTokens, 5 * kFrameTokens + 77}) {
      const std::string shard = shard_of(some_tokens(count, vocab_size), header_of(vocab_size));
      const std::vector<Frame> real = frames_of(shard);
      std::size_t begin = 0;
      const std::vector<Frame> listed = listed_frames(shard, shard.size(), begin);
      CHECK(begin == 0);
      CHECK(listed.size() + 1 == real.size());
      check_listed(shard, listed, real, 0);
    }
  }
}

TEST_CASE("seek_table: the zstd program decodes each frame alone, at the place that the table gives") {
  if (std::system("zstd --version >/dev/null 2>&1") != 0) return skip("no zstd program");
  const ScratchFolder folder;
  for (const Index vocab_size : {Index{1000}, Index{100000}}) {
    const std::vector<Token> tokens = some_tokens(3 * kFrameTokens + 77, vocab_size);
    const std::string shard = shard_of(tokens, header_of(vocab_size));
    const std::string raw = raw_ids(tokens, vocab_size > 65536 ? 4 : 2);
    std::size_t begin = 0, content_begin = 0;
    for (const Frame& frame : listed_frames(shard, shard.size(), begin)) {
      if (frame.content == 0) continue;
      spit(folder / "frame.zst", shard.substr(frame.begin, frame.bytes));
      REQUIRE(std::system(("zstd -dcqf " + (folder / "frame.zst") + " >" + (folder / "ids")).c_str()) == 0);
      CHECK(slurp(folder / "ids") == raw.substr(content_begin, frame.content));
      content_begin += frame.content;
    }
    CHECK(content_begin == raw.size());
  }
}

TEST_CASE("seek_table: shards put one behind the other are walked backwards") {
  std::string all;
  for (const Index count : {Index{70000}, Index{0}, Index{33000}}) {
    all += shard_of(some_tokens(count, 1000), header_of(1000));
  }
  const std::vector<Frame> real = frames_of(all);
  std::size_t first = real.size(), end = all.size();
  int members = 0;
  for (; end > 0; ++members) {
    std::size_t begin = 0;
    const std::vector<Frame> listed = listed_frames(all, end, begin);
    REQUIRE(first >= listed.size() + 1);
    first -= listed.size() + 1;
    check_listed(all, listed, real, first);
    end = begin;
  }
  CHECK(members == 3);
  CHECK(first == 0);
}
