// Small token shards for tests, and what readers make of them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "io/shard.h"
#include "support/catch.h"
#include "support/files.h"

namespace bam::test {

using namespace bam::io;

inline constexpr Token kBos = 1;

inline ShardHeader header_of(Index vocab_size) {
  ShardHeader header;
  header.width = ShardHeader::width_for(vocab_size);
  header.vocab_size = vocab_size;
  header.bos_id = kBos;
  header.eos_id = 2;
  header.tokenizer_name = "test";
  header.tokenizer_kind = "bytes";
  return header;
}

inline const std::vector<TokenizerFile> kFiles = {{"a.model", std::string("\0\1\2", 3)}, {"empty", ""}};

inline std::vector<Token> some_tokens(Index count, Index vocab_size, std::uint64_t seed = 1) {
  bam::Rng rng(seed);
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i) {
    const bool starts = i == 0 || rng.below(20) == 0;
    tokens.push_back(starts ? kBos : static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab_size))));
  }
  return tokens;
}

inline std::string shard_of(const std::vector<Token>& tokens, const ShardHeader& header,
                            ShardWriter::Options options = {}, ShardTotals* totals = nullptr) {
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

inline std::vector<Token> read_stream(const std::string& bytes) {
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

inline std::vector<Token> read_random(ShardFile& file) {
  std::vector<Token> tokens(static_cast<std::size_t>(file.tokens()));
  file.read(0, tokens);
  return tokens;
}

// Everything a file of these bytes says at random access, or the error.
inline std::string open_and_read(const std::string& path, const std::vector<Token>& expected) {
  return error_of([&] {
    ShardFile file(path);
    if (read_random(file) != expected) throw bam::Error("other tokens");
    file.validate();
  });
}

}  // namespace bam::test
