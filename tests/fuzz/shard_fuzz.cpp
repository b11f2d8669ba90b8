// boxes: io base
// Shards read as a stream and entered at random.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "io/shard.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  bam::Index streamed = -1;
  try {
    bam::io::ShardReader reader(bam::io::source_from_memory("fuzz", bytes));
    while (!reader.next().empty()) {
    }
    streamed = reader.tokens();
  } catch (const bam::Error&) {
  }
  std::array<char, 32> path{"/tmp/bam-fuzz-XXXXXX"};
  const int file = mkstemp(path.data());
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) abort();
  close(file);
  try {
    bam::io::ShardFile shard(path.data());
    std::array<bam::io::Token, 7> ids{};
    const bam::Index count = std::min<bam::Index>(shard.tokens(), 7);
    shard.read(shard.tokens() - count, std::span(ids).first(static_cast<std::size_t>(count)));
    shard.validate();
    if (shard.tokens() != streamed) abort();
  } catch (const bam::Error&) {
  }
  unlink(path.data());
  return 0;
}
