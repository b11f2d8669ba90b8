// Token shards, NAME.tok.zst: what bam-shard(5) describes. A shard is a plain zstd stream of little-endian ids between
// skippable frames that say what the ids are, how many there must be, and where each frame begins.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "io/stream.h"
#include "io/tokenizer_files.h"

namespace bam::io {

// An id in memory. Vocabularies are below 2^31, so that an id is also an index of the embedding op.
using Token = std::int32_t;

enum class TokenWidth { u16, u32 };  // an id in the file

struct ShardHeader {
  TokenWidth width = TokenWidth::u16;
  Index vocab_size = 0;  // every id is below it; BOS and EOS included
  Token bos_id = 0;      // a document begins where it occurs
  std::optional<Token> eos_id;
  std::string tokenizer_name;    // for people, for example "mistral-v3"
  std::string tokenizer_kind;    // for programs, for example "bytes", "sentencepiece"
  std::string tokenizer_sha256;  // tokenizer_digest of the files; the writer fills it in
  Index frame_tokens = 0;        // ids in each data frame but the last; the writer fills it in

  // u16 up to 65536 ids.
  static TokenWidth width_for(Index vocab_size);
};

// Whether a file that begins so is a token shard, or may be one that was cut short behind so few bytes. Text that pzstd
// has compressed begins with a frame of the same magic, and is none.
bool looks_like_shard(std::string_view beginning);

// Empty when shards of the two headers may be used together, else what differs: "vocab_size 32768 and 32000".
// frame_tokens may differ.
std::string header_difference(const ShardHeader& a, const ShardHeader& b);

struct ShardTotals {
  Index tokens = 0;
  Index documents = 0;  // occurrences of bos_id
  std::string sha256;   // of all bytes before the totals and of their own text: the shard's digest
};

// Ids per data frame. Measured on English text (Mistral ids, u16, level 9): see bam-shard(5), FRAME SIZE.
inline constexpr Index kFrameTokens = 32 * 1024;

class ShardWriter {
 public:
  struct Options {
    int level = 9;    // zstd, 1 to 19
    int threads = 1;  // compress frames; the bytes do not depend on it
  };

  // Writes the header at once. `sink` outlives the writer. Throws UsageError for a level or thread count outside its
  // range, Error for a header that cannot be (ids outside the vocabulary, width too small, digest that is not the
  // files').
  ShardWriter(ByteSink& sink, ShardHeader header, const std::vector<TokenizerFile>& files, Options options);
  ShardWriter(ByteSink& sink, ShardHeader header, const std::vector<TokenizerFile>& files);
  ~ShardWriter();

  // Ids in order, in pieces of any size. Throws Error on an id outside [0, vocab_size): nothing of the piece is kept.
  void append(std::span<const Token> tokens);

  // So far, for splitting into shards.
  Index tokens() const;
  Index documents() const;

  // Writes the last frame, the totals and the seek table. Without it the shard is truncated, and readers say so.
  ShardTotals finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads a shard, or shards put one behind the other (`cat a b`), as they come: file, pipe or FIFO.
// Everything is checked before it is handed out, and the totals, the digest and the seek table when a member ends.
// Errors, all "NAME: ...": empty, not a token shard, truncated shard (at any byte), damaged shard, id outside the
// vocabulary, headers that differ between members (and in what).
class ShardReader {
 public:
  explicit ShardReader(std::unique_ptr<ByteSource> source);  // reads the first header
  explicit ShardReader(const std::string& path);             // "-" is standard input
  ~ShardReader();

  const ShardHeader& header() const;
  const std::vector<TokenizerFile>& tokenizer_files() const;

  // The next ids, at most one frame, valid until the next call. Empty only at the verified end.
  std::span<const Token> next();

  // Handed out so far; at the end, the totals of all members.
  Index tokens() const;
  Index documents() const;

  // Of the members read to their end, in order.
  const std::vector<ShardTotals>& members() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Random access to a shard file (or `cat a b` of several). Opening reads and verifies the headers, the totals and the
// seek tables, not the ids; each data frame is verified when it is decoded. Not for use by two threads at once.
class ShardFile {
 public:
  // `cache_bytes` bounds the decoded frames kept; at least one is. Throws as ShardReader; Error for a pipe.
  explicit ShardFile(const std::string& path, Index cache_bytes = 64 << 20);
  ~ShardFile();
  ShardFile(ShardFile&&) noexcept;
  ShardFile& operator=(ShardFile&&) noexcept;

  const std::string& name() const;
  const ShardHeader& header() const;
  const std::vector<TokenizerFile>& tokenizer_files() const;
  Index tokens() const;
  Index documents() const;
  const std::vector<ShardTotals>& members() const;

  // Identity of the whole content: the digest of the only member, else SHA-256 over the members' digests (their
  // hexadecimal text, in order).
  std::string digest() const;

  // Ids first, first + 1, ... into all of `out`. Throws Error outside [0, tokens()] and for damaged frames.
  void read(Index first, std::span<Token> out);

  // Reads the whole file and checks every byte of it.
  void validate() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bam::io
