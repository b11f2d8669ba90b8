// boxes: io base
// Shards read as a stream and entered at random.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "io/shard.h"
#include "memory_file.h"

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
  const bam::test::MemoryFile file(bytes);
  try {
    bam::io::ShardFile shard(file.path());
    std::array<bam::io::Token, 7> ids{};
    const bam::Index count = std::min<bam::Index>(shard.tokens(), 7);
    shard.read(shard.tokens() - count, std::span(ids).first(static_cast<std::size_t>(count)));
    shard.validate();
    if (shard.tokens() != streamed) abort();
  } catch (const bam::Error&) {
  }
  return 0;
}
