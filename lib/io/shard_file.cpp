// Shards entered anywhere, through their seek tables.
#include <zstd.h>

#include <algorithm>
#include <list>
#include <unordered_map>

#include "base/error.h"
#include "io/bytes.h"
#include "io/descriptor.h"
#include "io/sha256.h"
#include "io/shard.h"
#include "io/shard_format.h"

namespace bam::io {

namespace format = shard_format;

namespace {

// A data frame: where its bytes are in the file, and which ids it holds.
struct DataFrame {
  Index offset = 0;
  Index compressed_bytes = 0;
  Index first_token = 0;
  Index tokens = 0;
  std::size_t member = 0;
  std::size_t number = 0;  // in its member
};

struct Member {
  Index offset = 0;
  Index bytes = 0;
  ShardHeader header;
  std::string tokenizer_blob;
  ShardTotals totals;
  std::vector<format::SeekEntry> entries;
};

std::string read_string(int fd, Index offset, Index bytes, const std::string& name) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  read_fully_at(fd, offset, text, name);
  return text;
}

// The seek table that ends at `end`, checked in itself and against the room before it.
std::string read_seek_table(int fd, Index end, const std::string& name, std::vector<format::SeekEntry>& entries) {
  constexpr Index kLeast = format::kSkippableHeadBytes + format::kSeekFooterBytes;
  if (end < kLeast) format::fail_truncated(name);
  const std::string footer = read_string(fd, end - format::kSeekFooterBytes, format::kSeekFooterBytes, name);
  if (load_u32(std::string_view(footer).substr(5)) != format::kSeekFooterMagic) {
    throw Error(name + ": truncated shard, expected a seek table at the end");
  }
  const Index count = load_u32(footer);
  if (count < 3 || count > format::kMaxFrames || count > (end - kLeast) / format::kSeekEntryBytes) {
    format::fail_damaged(name, "a seek table of " + std::to_string(count) + " frames");
  }
  const Index bytes = kLeast + count * format::kSeekEntryBytes;
  std::string table = read_string(fd, end - bytes, bytes, name);
  entries.resize(static_cast<std::size_t>(count));
  std::string_view rest = std::string_view(table).substr(format::kSkippableHeadBytes);
  for (format::SeekEntry& entry : entries) {
    entry = {load_u32(rest), load_u32(rest.substr(4))};
    rest.remove_prefix(format::kSeekEntryBytes);
  }
  if (table != format::encode_seek_table(entries)) format::fail_damaged(name, "its seek table has another form");
  return table;
}

// One skippable frame, whose place and size the seek table gave.
std::string read_skippable(int fd, Index offset, Index bytes, std::uint32_t magic, Index max_content,
                           const std::string& name, const char* what) {
  if (bytes < format::kSkippableHeadBytes || bytes > max_content + format::kSkippableHeadBytes) {
    format::fail_damaged(name, std::string("expected ") + what);
  }
  std::string frame = read_string(fd, offset, bytes, name);
  if (load_u32(frame) != magic ||
      load_u32(std::string_view(frame).substr(4)) != static_cast<std::uint64_t>(bytes - format::kSkippableHeadBytes)) {
    format::fail_damaged(name, std::string("expected ") + what);
  }
  return frame;
}

// Ids of the data frames by the seek table; every frame but the last must be full.
Index count_tokens(const Member& member, const std::string& name) {
  const Index width = format::bytes_of(member.header.width);
  const Index full = member.header.frame_tokens * width;
  Index bytes = 0;
  for (std::size_t i = 2; i + 1 < member.entries.size(); ++i) {
    const Index content = member.entries[i].content_bytes;
    const bool is_last = i + 2 == member.entries.size();
    if (content == 0 || content > full || content % width != 0 || (!is_last && content != full)) {
      format::fail_damaged(name, "frame " + std::to_string(i) + " of " + std::to_string(content) + " bytes, expected " +
                                     std::to_string(full));
    }
    bytes += content;
  }
  return bytes / width;
}

// The member that ends at `end`: everything about it but its ids.
Member read_member(int fd, Index end, const std::string& name) {
  Member member;
  const std::string table = read_seek_table(fd, end, name, member.entries);
  const auto& entries = member.entries;
  Index frames_bytes = 0;
  for (const format::SeekEntry& entry : entries) frames_bytes += entry.compressed_bytes;
  member.bytes = frames_bytes + std::ssize(table);
  member.offset = end - member.bytes;
  if (member.offset < 0)
    throw Error(name + ": truncated shard, expected its beginning " + std::to_string(-member.offset) +
                " bytes earlier");

  const Index header_bytes = entries[0].compressed_bytes;
  const std::string header =
      read_skippable(fd, member.offset, header_bytes, format::kHeaderMagic, format::kMaxHeaderBytes, name, "a header");
  const std::string files =
      read_skippable(fd, member.offset + header_bytes, entries[1].compressed_bytes, format::kTokenizerMagic,
                     format::kMaxTokenizerBytes, name, "the tokenizer's files");
  const Index totals_bytes = entries.back().compressed_bytes;
  const std::string totals_frame = read_skippable(fd, end - std::ssize(table) - totals_bytes, totals_bytes,
                                                  format::kTotalsMagic, format::kMaxTotalsBytes, name, "totals");
  const auto content = [](const std::string& frame) {
    return std::string_view(frame).substr(format::kSkippableHeadBytes);
  };
  const format::Totals totals = format::decode_totals(content(totals_frame), name);
  Sha256 index;
  index.update(header);
  index.update(files);
  index.update(format::indexed_part(totals_frame));
  index.update(table);
  if (index.hex() != totals.index_sha256) format::fail_damaged(name, "its index does not have its digest");

  member.header = format::decode_header(content(header), name);
  member.tokenizer_blob = content(files);
  if (sha256_hex(member.tokenizer_blob) != member.header.tokenizer_sha256) {
    format::fail_damaged(name, "the tokenizer's files do not have the digest of the header");
  }
  member.totals = totals.totals;
  if (const Index tokens = count_tokens(member, name); tokens != member.totals.tokens) {
    format::fail_damaged(name, std::to_string(tokens) + " tokens in its seek table, " +
                                   std::to_string(member.totals.tokens) + " in its totals");
  }
  return member;
}

// All of an open file from its beginning, whatever its position.
class WholeFile : public ByteSource {
 public:
  WholeFile(int fd, Index size, std::string name) : ByteSource(std::move(name)), fd_(fd), size_(size) {}
  Index read(std::span<char> buffer) override {
    const Index count = std::min(static_cast<Index>(buffer.size()), size_ - offset_);
    read_fully_at(fd_, offset_, buffer.first(static_cast<std::size_t>(count)), name());
    offset_ += count;
    return count;
  }

 private:
  int fd_;
  Index size_;
  Index offset_ = 0;
};

struct Decoder {
  Decoder() : zstd(ZSTD_createDCtx()) {}
  ~Decoder() { ZSTD_freeDCtx(zstd); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ZSTD_DCtx* zstd;
};

}  // namespace

struct ShardFile::State {
  using Cached = std::pair<std::size_t, std::vector<Token>>;  // number of the frame, its ids

  const std::vector<Token>& frame(std::size_t number);
  std::vector<Token> decode(const DataFrame& frame);
  void add(const Member& member);

  Descriptor file;
  std::string name;
  Index size = 0;
  ShardHeader header;
  std::vector<TokenizerFile> files;
  std::vector<ShardTotals> members;
  std::vector<DataFrame> frames;
  Index tokens = 0;
  Index documents = 0;

  Decoder decoder;
  std::vector<char> compressed;
  std::vector<char> content;
  Index cache_limit = 0;  // ids
  Index cached_tokens = 0;
  std::list<Cached> cache;  // the most recently used first
  std::unordered_map<std::size_t, std::list<Cached>::iterator> place;
};

void ShardFile::State::add(const Member& member) {
  if (members.empty()) {
    header = member.header;
    files = unpack_tokenizer_files(member.tokenizer_blob, name);
  } else if (const std::string difference = header_difference(header, member.header); !difference.empty()) {
    throw Error(name + ": member " + std::to_string(members.size() + 1) + " differs from the first in " + difference);
  }
  Index offset = member.offset + member.entries[0].compressed_bytes + member.entries[1].compressed_bytes;
  for (std::size_t i = 2; i + 1 < member.entries.size(); ++i) {
    const Index count = member.entries[i].content_bytes / format::bytes_of(header.width);
    frames.push_back({offset, member.entries[i].compressed_bytes, tokens, count, members.size(), i});
    offset += member.entries[i].compressed_bytes;
    tokens += count;
  }
  documents += member.totals.documents;
  members.push_back(member.totals);
}

std::vector<Token> ShardFile::State::decode(const DataFrame& frame) {
  compressed.resize(static_cast<std::size_t>(frame.compressed_bytes));
  read_fully_at(file.get(), frame.offset, compressed, name);
  content.resize(static_cast<std::size_t>(frame.tokens * format::bytes_of(header.width)));
  ShardHeader bounds = header;  // members may differ in frame_tokens, and the seek table has been checked
  bounds.frame_tokens = frame.tokens;
  const Index promised = format::frame_content_bytes({compressed.data(), compressed.size()}, bounds, name);
  if (promised != std::ssize(content) ||
      ZSTD_findFrameCompressedSize(compressed.data(), compressed.size()) != compressed.size()) {
    format::fail_damaged(name, "a data frame that does not fit the seek table");
  }
  const std::size_t got =
      ZSTD_decompressDCtx(decoder.zstd, content.data(), content.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(got)) format::fail_damaged(name, ZSTD_getErrorName(got));
  if (got != content.size()) format::fail_damaged(name, "a frame shorter than its head says");
  std::vector<Token> ids;
  format::decode_ids({content.data(), content.size()}, header, name, ids);
  return ids;
}

const std::vector<Token>& ShardFile::State::frame(std::size_t number) {
  if (const auto found = place.find(number); found != place.end()) {
    cache.splice(cache.begin(), cache, found->second);
    return cache.front().second;
  }
  std::vector<Token> ids;
  try {
    ids = decode(frames[number]);
  } catch (const Error& error) {
    format::rethrow_for_frame(error, frames[number].member, frames[number].number);
  }
  cached_tokens += std::ssize(ids);
  cache.emplace_front(number, std::move(ids));
  place[number] = cache.begin();
  while (cached_tokens > cache_limit && cache.size() > 1) {
    cached_tokens -= std::ssize(cache.back().second);
    place.erase(cache.back().first);
    cache.pop_back();
  }
  return cache.front().second;
}

ShardFile::ShardFile(const std::string& path, Index cache_bytes) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.name = path;
  state.file = open_for_reading(path);
  state.cache_limit = cache_bytes / static_cast<Index>(sizeof(Token));
  if (!is_regular_file(state.file.get())) throw Error(path + ": not a regular file, expected one for random access");
  state.size = file_size(state.file.get(), path);
  if (state.size == 0) throw Error(path + ": empty, expected a token shard");
  std::string magic;
  append_u32(magic, format::kHeaderMagic);
  if (!magic.starts_with(read_string(state.file.get(), 0, std::min(state.size, Index{4}), path))) {
    throw Error(path + ": not a token shard (bam-shard(5))");
  }
  std::vector<Member> members;
  for (Index end = state.size; end > 0; end = members.back().offset) {
    if (!members.empty()) members.back().tokenizer_blob = {};  // only the first member's is kept: it may be large
    members.push_back(read_member(state.file.get(), end, path));
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) state.add(*member);
}

ShardFile::~ShardFile() = default;
ShardFile::ShardFile(ShardFile&&) noexcept = default;
ShardFile& ShardFile::operator=(ShardFile&&) noexcept = default;

const std::string& ShardFile::name() const {
  return state_->name;
}

const ShardHeader& ShardFile::header() const {
  return state_->header;
}

const std::vector<TokenizerFile>& ShardFile::tokenizer_files() const {
  return state_->files;
}

Index ShardFile::tokens() const {
  return state_->tokens;
}

Index ShardFile::documents() const {
  return state_->documents;
}

const std::vector<ShardTotals>& ShardFile::members() const {
  return state_->members;
}

std::string ShardFile::digest() const {
  if (state_->members.size() == 1) return state_->members.front().sha256;
  Sha256 digest;
  for (const ShardTotals& member : state_->members) digest.update(member.sha256);
  return digest.hex();
}

void ShardFile::read(Index first, std::span<Token> out) {
  State& state = *state_;
  if (first < 0 || first > state.tokens || std::ssize(out) > state.tokens - first) {
    throw Error(state.name + ": tokens " + std::to_string(first) + " to " + std::to_string(first + std::ssize(out)) +
                " asked for, expected at most " + std::to_string(state.tokens));
  }
  while (!out.empty()) {
    const auto behind = std::upper_bound(state.frames.begin(), state.frames.end(), first,
                                         [](Index token, const DataFrame& frame) { return token < frame.first_token; });
    const auto number = static_cast<std::size_t>(behind - state.frames.begin()) - 1;
    const std::vector<Token>& ids = state.frame(number);
    const auto skipped = static_cast<std::size_t>(first - state.frames[number].first_token);
    const std::size_t count = std::min(out.size(), ids.size() - skipped);
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(skipped), count, out.begin());
    out = out.subspan(count);
    first += static_cast<Index>(count);
  }
}

void ShardFile::validate() const {
  const State& state = *state_;
  ShardReader reader(std::make_unique<WholeFile>(state.file.get(), state.size, state.name));
  while (!reader.next().empty()) {
  }
  if (reader.tokens() != state.tokens || reader.documents() != state.documents) {
    format::fail_damaged(state.name, "its index and its frames differ");
  }
}

}  // namespace bam::io
