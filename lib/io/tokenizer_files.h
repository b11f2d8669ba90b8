// The files a tokenizer is made of, as shards and checkpoints carry them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bam::io {

struct TokenizerFile {
  std::string name;   // without a folder, for example "tokenizer.model"; 1 to 255 bytes, no "/" and no NUL
  std::string bytes;  // unchanged
};

// One blob of several files, and back. Layout, all numbers little-endian:
//   u32 number of files; per file: u32 length of the name, the name, u64 length, the bytes
// The files stand in the order of the bytes of their names, whatever order they are given in, each name once.
// unpack throws Error "SUBJECT: ..." on anything that is not exactly such a blob, and allocates nothing that the blob
// does not hold.
std::string pack_tokenizer_files(const std::vector<TokenizerFile>& files);
std::vector<TokenizerFile> unpack_tokenizer_files(std::string_view blob, const std::string& subject);

// SHA-256 of the blob: the tokenizer's identity in shard headers and checkpoints. Equal for the same files in any
// order. A tokenizer without files (bytes) has the digest of the empty list, and is told apart by its kind.
std::string tokenizer_digest(const std::vector<TokenizerFile>& files);

}  // namespace bam::io
