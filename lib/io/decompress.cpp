// Transparent zstd and gzip input.
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/shard.h"
#include "io/stream.h"

namespace bam::io {
namespace {

constexpr std::size_t kInputBytes = 1 << 17;
constexpr std::size_t kHeadBytes = 9;

// The bytes already taken for sniffing, then the rest.
class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : ByteSource(rest->name()), prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  Index read(std::span<char> buffer) override {
    if (position_ == prefix_.size()) return rest_->read(buffer);
    const std::size_t count = std::min(buffer.size(), prefix_.size() - position_);
    std::memcpy(buffer.data(), prefix_.data() + position_, count);
    position_ += count;
    return static_cast<Index>(count);
  }

 private:
  std::string prefix_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// The memory that a frame may ask for: what `zstd -d` takes too without being told.
constexpr int kMostWindowLog = 27;

std::string zstd_problem(std::size_t status) {
  switch (ZSTD_getErrorCode(status)) {
    case ZSTD_error_frameParameter_windowTooLarge:
      return "compressed by zstd with a window above 128 MiB, expected at most that of --long=27";
    case ZSTD_error_dictionary_wrong:
      return "compressed by zstd with a dictionary, expected none";
    case ZSTD_error_memory_allocation:
      return "out of memory for zstd";
    default:
      return std::string("damaged zstd stream: ") + ZSTD_getErrorName(status);
  }
}

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : ByteSource(source->name()), source_(std::move(source)), stream_(ZSTD_createDStream()), input_(kInputBytes) {
    if (stream_ == nullptr) throw Error(name() + ": out of memory for zstd");
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kMostWindowLog);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Index read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos == 0 && out.size > 0) {
      if (in_.pos == in_.size && !output_pending_ && !refill()) return 0;
      const std::size_t status = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(status)) throw Error(name() + ": " + zstd_problem(status));
      at_frame_edge_ = status == 0;
      // A full output buffer may hide more; a call without input would otherwise open the next frame at a frame edge.
      output_pending_ = !at_frame_edge_ && out.pos == out.size;
    }
    return static_cast<Index>(out.pos);
  }

 private:
  // False at the end, which may only come between frames.
  bool refill() {
    const Index got = source_->read(input_);
    if (got == 0) {
      if (!at_frame_edge_) throw Error(name() + ": truncated zstd stream, expected more bytes");
      return false;
    }
    in_ = {input_.data(), static_cast<std::size_t>(got), 0};
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  ZSTD_DStream* stream_;
  std::vector<char> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool at_frame_edge_ = true;
  bool output_pending_ = false;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source)
      : ByteSource(source->name()), source_(std::move(source)), input_(kInputBytes) {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, gzip wrapping only
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) throw Error(name() + ": out of memory for gzip");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  Index read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), 1U << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted && wanted > 0) {
      if (stream_.avail_in == 0 && !output_pending_ && !refill()) return 0;
      if (at_member_edge_) begin_member();
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        throw Error(name() + ": damaged gzip stream" + (stream_.msg != nullptr ? ": " + std::string(stream_.msg) : ""));
      }
      at_member_edge_ = status == Z_STREAM_END;
      output_pending_ = !at_member_edge_ && stream_.avail_out == 0;
    }
    return static_cast<Index>(wanted - stream_.avail_out);
  }

 private:
  void begin_member() {
    if (inflateReset(&stream_) != Z_OK) throw Error(name() + ": damaged gzip stream");
    at_member_edge_ = false;
  }

  bool refill() {
    const Index got = source_->read(input_);
    if (got == 0) {
      if (!at_member_edge_) throw Error(name() + ": truncated gzip stream, expected more bytes");
      return false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return true;
  }

  std::unique_ptr<ByteSource> source_;
  std::vector<char> input_;
  z_stream stream_{};
  bool at_member_edge_ = true;
  bool output_pending_ = false;
};

bool is_zstd(std::string_view head) {
  if (head.size() < 4) return false;
  if (head.starts_with("\x28\xB5\x2F\xFD")) return true;
  return (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50 &&
         head.substr(1, 3) == "\x2A\x4D\x18";  // skippable frame
}

bool is_gzip(std::string_view head) {
  return head.size() >= 3 && head.substr(0, 3) == "\x1F\x8B\x08";
}

using namespace std::string_view_literals;
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherPrograms = {
    {{"\3757zXZ\0"sv, "xz"}, {"BZh91AY&"sv, "bzip2"}}};

// What is called so and does not begin so is damaged, and no text.
void require_as_named(const std::string& path, std::string_view head) {
  const auto expect = [&](std::string_view suffix, bool is_so) {
    if (path.ends_with(suffix) && !is_so) {
      throw Error(path + ": does not begin as a file whose name ends with " + std::string(suffix));
    }
  };
  expect(".zst", is_zstd(head));
  expect(".gz", is_gzip(head));
}

std::string take_head(ByteSource& source) {
  std::string head(kHeadBytes, '\0');
  head.resize(static_cast<std::size_t>(source.read_full(head)));
  return head;
}

std::unique_ptr<ByteSource> decompress_after(const std::string& head, std::unique_ptr<ByteSource> source) {
  require_as_named(source->name(), head);
  for (const auto& [magic, program] : kOtherPrograms) {
    if (head.starts_with(magic)) {
      throw Error(source->name() + ": compressed by " + std::string(program) + ", expected text, zstd or gzip");
    }
  }
  auto whole = std::make_unique<PrefixedSource>(head, std::move(source));
  if (is_zstd(head)) return std::make_unique<ZstdSource>(std::move(whole));
  if (is_gzip(head)) return std::make_unique<GzipSource>(std::move(whole));
  return whole;
}

}  // namespace

std::unique_ptr<ByteSource> decompress(std::unique_ptr<ByteSource> source) {
  const std::string head = take_head(*source);
  return decompress_after(head, std::move(source));
}

std::unique_ptr<ByteSource> open_decompressed(const std::string& path, EmptyFile empty) {
  std::unique_ptr<ByteSource> source = open_source(path);
  const std::string head = take_head(*source);
  if (head.empty() && empty == EmptyFile::refused) throw Error(source->name() + ": empty, expected text");
  if (looks_like_shard(head)) throw Error(source->name() + ": a token shard, expected text");
  return decompress_after(head, std::move(source));
}

}  // namespace bam::io
