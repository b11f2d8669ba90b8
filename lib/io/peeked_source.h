// The bytes taken to see what a stream is, then the rest.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "io/stream.h"

namespace bam::io {

// Enough for looks_like_shard and looks_like_checkpoint.
inline constexpr Index kBeginningBytes = 16;

class PeekedSource : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> rest, Index bytes)
      : ByteSource(rest->name()), peeked_(static_cast<std::size_t>(bytes), '\0'), rest_(std::move(rest)) {
    peeked_.resize(static_cast<std::size_t>(rest_->read_full(peeked_)));
  }

  const std::string& peeked() const { return peeked_; }

  Index read(std::span<char> buffer) override {
    if (position_ == peeked_.size()) return rest_->read(buffer);
    const std::size_t count = std::min(buffer.size(), peeked_.size() - position_);
    std::memcpy(buffer.data(), peeked_.data() + position_, count);
    position_ += count;
    return static_cast<Index>(count);
  }

 private:
  std::string peeked_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace bam::io
