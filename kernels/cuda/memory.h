// Memory - a caching allocator over the device's own, which is slow and stops the device: what is given back is kept
// and handed out again for the next request of about its size.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>

#include "base/types.h"

namespace bam::cuda {

class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // At least 256-byte aligned, not initialised. Throws Error, naming the size and what is free, when there is none.
  void* take(std::size_t bytes);
  void give(void* data) noexcept;

  std::size_t kept_bytes() const;  // not in use

 private:
  void release_kept() noexcept;

  std::multimap<std::size_t, void*> kept_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::size_t held_ = 0;
};

}  // namespace bam::cuda
