#include "train/token_files.h"

#include <algorithm>

#include "base/error.h"
#include "io/pipe.h"
#include "io/sha256.h"
#include "io/stream.h"

namespace bam::train {
namespace {

// Of decoded ids, for all files together.
constexpr Index kCacheBytes = Index{256} << 20;

std::vector<Token> read_whole(io::ShardReader& reader) {
  std::vector<Token> ids;
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next())
    ids.insert(ids.end(), piece.begin(), piece.end());
  return ids;
}

// As ShardFile::digest.
std::string digest_of(const std::vector<io::ShardTotals>& members) {
  if (members.size() == 1) return members.front().sha256;
  io::Sha256 sha;
  for (const io::ShardTotals& member : members) sha.update(member.sha256);
  return sha.hex();
}

}  // namespace

void require_same_header(const std::string& path, const io::ShardHeader& header, const std::string& first_path,
                         const io::ShardHeader& first) {
  const std::string difference = io::header_difference(header, first);
  if (!difference.empty()) {
    throw Error(io::input_name(path) + ": does not go with " + io::input_name(first_path) + ": " + difference);
  }
}

TokenFiles::TokenFiles(const std::vector<std::string>& paths, Pipes pipes) : paths_(paths) {
  if (paths.empty()) throw Error("no shard is given, expected token shards");
  const Index cache = std::max<Index>(1, kCacheBytes / static_cast<Index>(paths.size()));
  for (const std::string& path : paths) {
    Part part;
    part.first = tokens_;
    io::ShardHeader header;
    std::vector<io::TokenizerFile> files;
    if (pipes == Pipes::keep_in_memory && io::is_pipe(path)) {
      io::ShardReader reader(path);
      part.memory = read_whole(reader);
      part.count = std::ssize(part.memory);
      header = reader.header();
      files = reader.tokenizer_files();
      digests_.push_back(digest_of(reader.members()));
    } else {
      part.file.emplace(path, cache);
      part.count = part.file->tokens();
      header = part.file->header();
      files = part.file->tokenizer_files();
      digests_.push_back(part.file->digest());
    }
    if (parts_.empty()) {
      header_ = header;
      tokenizer_files_ = files;
    }
    require_same_header(path, header, paths.front(), header_);
    tokens_ += part.count;
    parts_.push_back(std::move(part));
  }
}

std::string TokenFiles::name() const {
  const std::string first = io::input_name(paths_.front());
  return paths_.size() == 1 ? first : first + " and " + std::to_string(paths_.size() - 1) + " more";
}

void TokenFiles::read(Index first, std::span<Token> out) {
  const Index end = first + std::ssize(out);
  if (first < 0 || end > tokens_)
    throw Error(name() + ": no tokens " + std::to_string(first) + " to " + std::to_string(end));
  auto part =
      std::upper_bound(parts_.begin(), parts_.end(), first, [](Index at, const Part& p) { return at < p.first; });
  --part;
  while (!out.empty()) {
    const Index inside = first - part->first;
    const auto count = static_cast<std::size_t>(std::min<Index>(std::ssize(out), part->count - inside));
    if (part->file && count > 0) {
      part->file->read(inside, out.first(count));
    } else {
      std::copy_n(part->memory.begin() + inside, count, out.begin());
    }
    out = out.subspan(count);
    first += static_cast<Index>(count);
    ++part;
  }
}

}  // namespace bam::train
