#include "io/tokenizer_files.h"

#include <algorithm>

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
  std::vector<const TokenizerFile*> sorted;
  for (const TokenizerFile& file : files) sorted.push_back(&file);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  std::string blob;
  append_u32(blob, static_cast<std::uint32_t>(files.size()));
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const TokenizerFile& file = *sorted[i];
    if (!is_plain_name(file.name)) throw Error(file.name + ": not a plain file name for a tokenizer file");
    if (i > 0 && file.name == sorted[i - 1]->name) throw Error(file.name + ": two tokenizer files of one name");
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
    if (!is_plain_name(file.name) || (i > 0 && file.name <= files.back().name)) reader.fail();
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
