#include "io/stream.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "io/descriptor.h"

namespace bam::io {
namespace {

constexpr Index kLeastChunkBytes = 1 << 13;
constexpr Index kMostChunkBytes = 1 << 20;

class DescriptorSource : public ByteSource {
 public:
  DescriptorSource(Descriptor file, std::string name) : ByteSource(std::move(name)), file_(std::move(file)) {}
  Index read(std::span<char> buffer) override { return read_some(file_.get(), buffer, name()); }

 private:
  Descriptor file_;
};

// Standard input belongs to the process, so it is never closed here.
class StandardInput : public ByteSource {
 public:
  using ByteSource::ByteSource;
  Index read(std::span<char> buffer) override { return read_some(STDIN_FILENO, buffer, name()); }
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, std::string bytes) : ByteSource(std::move(name)), bytes_(std::move(bytes)) {}

  Index read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - position_);
    std::memcpy(buffer.data(), bytes_.data() + position_, count);
    position_ += count;
    return static_cast<Index>(count);
  }

 private:
  std::string bytes_;
  std::size_t position_ = 0;
};

}  // namespace

std::string input_name(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

Index ByteSource::read_full(std::span<char> buffer) {
  Index total = 0;
  while (!buffer.empty()) {
    const Index got = read(buffer);
    if (got == 0) break;
    total += got;
    buffer = buffer.subspan(static_cast<std::size_t>(got));
  }
  return total;
}

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  if (path == "-") return std::make_unique<StandardInput>(input_name(path));
  return std::make_unique<DescriptorSource>(open_for_reading(path), path);
}

std::unique_ptr<ByteSource> source_from_memory(std::string name, std::string bytes) {
  return std::make_unique<MemorySource>(std::move(name), std::move(bytes));
}

std::string read_all(ByteSource& source, Index limit) {
  std::string bytes;
  std::vector<char> chunk;
  for (;;) {
    // Most files are small, and a large buffer costs more than reading them does.
    const Index room = std::clamp<Index>(std::ssize(bytes), kLeastChunkBytes, kMostChunkBytes);
    chunk.resize(static_cast<std::size_t>(std::min(room, limit + 1)));
    const Index got = source.read(chunk);
    if (got == 0) return bytes;
    if (got > limit - static_cast<Index>(bytes.size())) {
      throw Error(source.name() + ": too large, expected at most " + std::to_string(limit) + " bytes");
    }
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

std::string read_file(const std::string& path, Index limit) {
  return read_all(*open_source(path), limit);
}

}  // namespace bam::io
