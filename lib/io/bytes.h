// Little-endian numbers in byte strings, whatever the machine's own order. For use inside this box.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bam::io {

inline void append_u32(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

inline void append_u64(std::string& out, std::uint64_t value) {
  append_u32(out, static_cast<std::uint32_t>(value));
  append_u32(out, static_cast<std::uint32_t>(value >> 32U));
}

// The number at the front of `bytes`, which holds at least 4.
inline std::uint32_t load_u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

// Takes numbers and strings from the front, and throws Error(complaint) when there are not enough bytes.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string complaint) : rest_(bytes), complaint_(std::move(complaint)) {}

  std::uint32_t u32() { return load_u32(bytes(4)); }
  std::uint64_t u64() {
    const std::uint64_t low = u32();
    return low | static_cast<std::uint64_t>(u32()) << 32U;
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool at_end() const { return rest_.empty(); }
  [[noreturn]] void fail() const { throw Error(complaint_); }

 private:
  std::string_view rest_;
  std::string complaint_;
};

}  // namespace bam::io
