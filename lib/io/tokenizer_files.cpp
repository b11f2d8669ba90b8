#include "io/tokenizer_files.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/sha256.h"

namespace bam::io {
namespace {

constexpr std::size_t kMaxNameBytes = 255;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name.find('/') == name.npos && name.find('\0') == name.npos;
}

}  // namespace

std::string pack_tokenizer_files(const std::vector<TokenizerFile>& files) {
  std::string blob;
  append_u32(blob, static_cast<std::uint32_t>(files.size()));
  for (const TokenizerFile& file : files) {
    if (!is_plain_name(file.name)) throw Error(file.name + ": not a plain file name for a tokenizer file");
    append_u32(blob, static_cast<std::uint32_t>(file.name.size()));
    blob += file.name;
    append_u64(blob, file.bytes.size());
    blob += file.bytes;
  }
  return blob;
}

std::vector<TokenizerFile> unpack_tokenizer_files(std::string_view blob, const std::string& subject) {
  ByteReader reader(blob, subject + ": damaged list of tokenizer files");
  std::vector<TokenizerFile> files;
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count; ++i) {
    TokenizerFile file;
    file.name = reader.bytes(reader.u32());
    if (!is_plain_name(file.name)) reader.fail();
    file.bytes = reader.bytes(reader.u64());
    files.push_back(std::move(file));
  }
  if (!reader.at_end()) reader.fail();
  return files;
}

std::string tokenizer_digest(const std::vector<TokenizerFile>& files) {
  return sha256_hex(pack_tokenizer_files(files));
}

}  // namespace bam::io
