// Shards read front to back, as they come.
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "io/bytes.h"
#include "io/sha256.h"
#include "io/shard.h"
#include "io/shard_format.h"

namespace bam::io {

namespace format = shard_format;

namespace {

// Frames cut out of a source. What is taken goes into the digest of the member.
class FrameSource {
 public:
  explicit FrameSource(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(1 << 17), zstd_(ZSTD_createDCtx()) {
    // Frames are small; a head that asks for a huge window is not one of ours.
    constexpr int kWindowLog = 24;
    if (zstd_ == nullptr || ZSTD_isError(ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax, kWindowLog))) {
      throw Error(name() + ": out of memory for zstd");
    }
  }
  ~FrameSource() { ZSTD_freeDCtx(zstd_); }
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;

  const std::string& name() const { return source_->name(); }

  // The next bytes without taking them: `count`, or fewer at the end. count is at most a few.
  std::string_view peek(std::size_t count) {
    while (end_ - begin_ < count && !ended_) {
      if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
      }
      const Index got = source_->read(std::span(buffer_).subspan(end_));
      ended_ = got == 0;
      end_ += static_cast<std::size_t>(got);
    }
    return available().substr(0, count);
  }

  std::uint32_t peek_magic() {
    const std::string_view head = peek(4);
    if (head.size() < 4) format::fail_truncated(name());
    return load_u32(head);
  }

  // A whole skippable frame, its head included. Its size is believed only as far as bytes arrive.
  std::string take_skippable(Index max_content_bytes, const char* what) {
    const std::string_view head = peek(format::kSkippableHeadBytes);
    if (std::ssize(head) < format::kSkippableHeadBytes) format::fail_truncated(name());
    const Index content = load_u32(head.substr(4));
    if (content > max_content_bytes) {
      format::fail_damaged(name(), std::string(what) + " of " + std::to_string(content) + " bytes, expected at most " +
                                       std::to_string(max_content_bytes));
    }
    std::string frame;
    Index missing = content + format::kSkippableHeadBytes;
    while (missing > 0) {
      const std::string_view piece = peek(1).empty() ? std::string_view() : available();
      if (piece.empty()) format::fail_truncated(name());
      const auto count = static_cast<std::size_t>(std::min(missing, static_cast<Index>(piece.size())));
      frame.append(piece.substr(0, count));
      begin_ += count;
      missing -= static_cast<Index>(count);
    }
    return frame;
  }

  // Decodes one zstd frame into `content`, which has exactly its size, and returns the frame's own size.
  Index take_zstd(std::span<char> content, Sha256& digest) {
    ZSTD_DCtx_reset(zstd_, ZSTD_reset_session_only);
    ZSTD_outBuffer out{content.data(), content.size(), 0};
    Index compressed = 0;
    for (;;) {
      if (peek(1).empty()) format::fail_truncated(name());
      const std::string_view piece = available();
      ZSTD_inBuffer in{piece.data(), piece.size(), 0};
      const std::size_t status = ZSTD_decompressStream(zstd_, &out, &in);
      if (ZSTD_isError(status)) format::fail_damaged(name(), ZSTD_getErrorName(status));
      digest.update(piece.substr(0, in.pos));
      begin_ += in.pos;
      compressed += static_cast<Index>(in.pos);
      if (status == 0) break;
    }
    if (out.pos != out.size) format::fail_damaged(name(), "a frame shorter than its head says");
    return compressed;
  }

 private:
  std::string_view available() const { return {buffer_.data() + begin_, end_ - begin_}; }

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  ZSTD_DCtx* zstd_;
};

}  // namespace

struct ShardReader::State {
  explicit State(std::unique_ptr<ByteSource> source) : frames(std::move(source)) {}

  void begin_member();
  void end_member();
  void take_data();
  bool take_frame();

  FrameSource frames;
  ShardHeader header;
  std::vector<TokenizerFile> files;
  std::vector<ShardTotals> members;
  std::vector<char> content;
  std::vector<Token> ids;
  Index tokens = 0;
  Index documents = 0;

  // Of the current member.
  bool inside = false;
  std::size_t frame = 0;  // that is being read
  bool saw_short_frame = false;
  std::vector<format::SeekEntry> entries;
  Sha256 digest;
  Sha256 index_digest;
  Index tokens_before = 0;
  Index documents_before = 0;
};

void ShardReader::State::begin_member() {
  const bool first = members.empty();
  const std::string subject = first ? frames.name() : frames.name() + ": member " + std::to_string(members.size() + 1);
  digest = Sha256();
  index_digest = Sha256();
  entries.clear();
  saw_short_frame = false;
  tokens_before = tokens;
  documents_before = documents;
  const std::string head_frame = frames.take_skippable(format::kMaxHeaderBytes, "a header");
  ShardHeader found = format::decode_header(std::string_view(head_frame).substr(format::kSkippableHeadBytes), subject);
  frame = 1;
  if (frames.peek_magic() != format::kTokenizerMagic) format::fail_damaged(subject, "expected the tokenizer's files");
  const std::string files_frame = frames.take_skippable(format::kMaxTokenizerBytes, "a tokenizer");
  const std::string_view blob = std::string_view(files_frame).substr(format::kSkippableHeadBytes);
  if (sha256_hex(blob) != found.tokenizer_sha256) {
    format::fail_damaged(subject, "the tokenizer's files do not have the digest of the header");
  }
  if (first) {
    header = std::move(found);
    files = unpack_tokenizer_files(blob, subject);
  } else {
    const std::string difference = header_difference(header, found);
    if (!difference.empty()) throw Error(subject + ": differs from the first in " + difference);
    header.frame_tokens = found.frame_tokens;
  }
  for (const std::string* part : {&head_frame, &files_frame}) {
    entries.push_back({static_cast<std::uint32_t>(part->size()), 0});
    digest.update(*part);
    index_digest.update(*part);
  }
  inside = true;
}

void ShardReader::State::take_data() {
  const std::string_view head = frames.peek(format::kZstdHeadBytes);
  if (std::ssize(head) < format::kZstdHeadBytes) format::fail_truncated(frames.name());
  if (saw_short_frame) format::fail_damaged(frames.name(), "a short frame that is not the last");
  const Index bytes = format::frame_content_bytes(head, header, frames.name());
  saw_short_frame = bytes < header.frame_tokens * format::bytes_of(header.width);
  content.resize(static_cast<std::size_t>(bytes));
  const Index compressed = frames.take_zstd(content, digest);
  entries.push_back({static_cast<std::uint32_t>(compressed), static_cast<std::uint32_t>(bytes)});
  documents += format::decode_ids({content.data(), content.size()}, header, frames.name(), ids);
  tokens += std::ssize(ids);
}

void ShardReader::State::end_member() {
  const std::string totals_frame = frames.take_skippable(format::kMaxTotalsBytes, "totals");
  const format::Totals totals =
      format::decode_totals(std::string_view(totals_frame).substr(format::kSkippableHeadBytes), frames.name());
  const format::Tail tail = format::make_tail(tokens - tokens_before, documents - documents_before, entries,
                                              std::move(digest), std::move(index_digest));
  if (totals.totals.tokens != tail.totals.totals.tokens || totals.totals.documents != tail.totals.totals.documents) {
    const auto counts = [](const ShardTotals& found) {
      return std::to_string(found.tokens) + " tokens in " + std::to_string(found.documents) + " documents";
    };
    format::fail_damaged(frames.name(), counts(tail.totals.totals) + ", expected " + counts(totals.totals));
  }
  if (totals_frame != tail.totals_frame) format::fail_damaged(frames.name(), "its bytes do not have its digest");
  ++frame;
  if (frames.peek_magic() != format::kSeekTableMagic) format::fail_damaged(frames.name(), "expected the seek table");
  const std::string seek_table = frames.take_skippable(std::ssize(tail.seek_table_frame), "a seek table");
  if (seek_table != tail.seek_table_frame)
    format::fail_damaged(frames.name(), "its seek table does not fit its frames");
  members.push_back(tail.totals.totals);
  inside = false;
}

// False when it held ids.
bool ShardReader::State::take_frame() {
  frame = inside ? entries.size() : 0;
  if (!inside) {
    if (frames.peek_magic() != format::kHeaderMagic) {
      format::fail_damaged(frames.name(), "expected the end or another shard behind the seek table");
    }
    begin_member();
  } else if (frames.peek_magic() == format::kTotalsMagic) {
    end_member();
  } else {
    take_data();
    return false;
  }
  return true;
}

ShardReader::ShardReader(std::unique_ptr<ByteSource> source) : state_(std::make_unique<State>(std::move(source))) {
  FrameSource& frames = state_->frames;
  const std::string_view head = frames.peek(4);
  if (head.empty()) throw Error(frames.name() + ": empty, expected a token shard");
  std::string magic;
  append_u32(magic, format::kHeaderMagic);
  if (!magic.starts_with(head)) throw Error(frames.name() + ": not a token shard (bam-shard(5))");
  try {
    state_->begin_member();
  } catch (const Error& error) {
    format::rethrow_for_frame(error, 0, state_->frame);
  }
}

ShardReader::ShardReader(const std::string& path) : ShardReader(open_source(path)) {}

ShardReader::~ShardReader() = default;

const ShardHeader& ShardReader::header() const {
  return state_->header;
}

const std::vector<TokenizerFile>& ShardReader::tokenizer_files() const {
  return state_->files;
}

std::span<const Token> ShardReader::next() {
  State& state = *state_;
  if (!state.inside && state.frames.peek(1).empty()) return {};
  try {
    while (state.take_frame()) {
      if (!state.inside && state.frames.peek(1).empty()) return {};
    }
    return state.ids;
  } catch (const Error& error) {
    format::rethrow_for_frame(error, state.members.size(), state.frame);
  }
}

Index ShardReader::tokens() const {
  return state_->tokens;
}

Index ShardReader::documents() const {
  return state_->documents;
}

const std::vector<ShardTotals>& ShardReader::members() const {
  return state_->members;
}

}  // namespace bam::io
