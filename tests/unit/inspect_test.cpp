// boxes: text io base
#include "text/inspect.h"

#include <algorithm>

#include "base/error.h"
#include "support/catch.h"
#include "support/files.h"

using bam::Index;
using namespace bam::test;
using namespace bam::text;

namespace {

// The place behind each frame of a shard, by the sizes that its seek table gives.
struct SmallShard {
  std::string bytes;
  std::vector<std::size_t> ends;

  explicit SmallShard(Index tokens) {
    bam::io::ShardHeader header;
    header.vocab_size = 257;
    header.bos_id = 256;
    header.tokenizer_name = header.tokenizer_kind = "bytes";
    bam::io::MemorySink sink;
    bam::io::ShardWriter writer(sink, header, {});
    std::vector<bam::io::Token> ids(static_cast<std::size_t>(tokens), 'a');
    ids.front() = 256;
    writer.append(ids);
    writer.finish();
    bytes = sink.bytes();
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])); };
    const std::size_t count = byte(bytes.size() - 9);
    for (std::size_t i = 0, end = 0; i < count; ++i) {
      const std::size_t entry = bytes.size() - 9 - 8 * (count - i);
      ends.push_back(end += byte(entry) + 256 * byte(entry + 1));
    }
    ends.push_back(bytes.size());
  }

  std::size_t frame_at(std::size_t place) const {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), place) - ends.begin());
  }
};

// The row of --validate, and the frame that its problem names; -1 for none.
int frame_named(const std::string& path) {
  bam::io::MemorySink sink;
  const std::string thrown = error_of([&] { write_summaries({path}, true, sink, bam::io::TableFormat::tsv, false); });
  const std::string& row = sink.bytes();
  CHECK(thrown != "no error");
  CHECK(row.find("\tno\t") != std::string::npos);
  CHECK(row.find(thrown) != std::string::npos);
  CHECK(std::count(row.begin(), row.end(), '\n') == 1);
  const std::size_t place = thrown.find("(frame ");
  return place == std::string::npos ? -1 : std::stoi(thrown.substr(place + 7));
}

}  // namespace

TEST_CASE("inspect: a shard that is cut at any byte is not valid, and the frame is named") {
  const ScratchFolder folder;
  const SmallShard shard(2 * bam::io::kFrameTokens + 5);
  const std::string path = folder / "x";
  spit(path, shard.bytes);
  CHECK(summarise_shard(path).tokens == 2 * bam::io::kFrameTokens + 5);
  for (std::size_t cut = shard.bytes.size(); cut-- > 4;) {
    INFO("cut after " << cut << " of " << shard.bytes.size());
    std::filesystem::resize_file(path, cut);
    CHECK(frame_named(path) == static_cast<int>(shard.frame_at(cut)));
  }
}

TEST_CASE("inspect: a shard with any bit of any byte flipped is not valid, and the frame is named") {
  const ScratchFolder folder;
  const SmallShard shard(bam::io::kFrameTokens + 5);
  const std::string path = folder / "x";
  spit(path, shard.bytes);
  const int totals = static_cast<int>(shard.ends.size()) - 2;
  REQUIRE(totals == 4);
  int flips = 0, told_by_frame = 0;
  for (std::size_t i = 0; i < shard.bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      INFO("bit " << bit << " of byte " << i << " of " << shard.bytes.size());
      patch(path, i, std::string(1, static_cast<char>(shard.bytes[i] ^ (1 << bit))));
      const int named = frame_named(path), held = static_cast<int>(shard.frame_at(i));
      // Without its first four bytes it is no shard. A number of the header that may be shows when a frame does not fit
      // it. What zstd passes over, such as the unused bit of a frame's head, is told by the digest in the totals.
      CHECK((named == held || named == totals || (held == 0 && named > 0 && named < totals) || i < 4));
      if (held == 2 || held == 3) {
        ++flips;
        if (named == held) ++told_by_frame;
      }
    }
    patch(path, i, shard.bytes.substr(i, 1));
  }
  CHECK(told_by_frame > flips * 95 / 100);
  CHECK(summarise_shard(path).documents == 1);
}
