#include <cstdio>

#include "io/shard.h"

int main(int, char** argv) {
  bam::io::ShardReader shard(argv[1]);
  while (!shard.next().empty()) {
  }
  std::printf("%lld\n", static_cast<long long>(shard.tokens()));
}
