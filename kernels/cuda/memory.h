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

  // What is taken between the two stays with recordings for good: they write there whenever they are played, one after
  // another, and nobody else may keep anything there. Nothing is asked of the device meanwhile: take() throws instead.
  void begin_recording() { recording_ = true; }
  void end_recording() { recording_ = false; }

 private:
  using Kept = std::multimap<std::size_t, void*>;
  struct Piece {
    std::size_t size = 0;
    bool of_recordings = false;
  };
  static void* take_from(Kept& kept, std::size_t size);
  void* take_for_recording(std::size_t size);
  void release_kept() noexcept;

  Kept kept_, kept_by_recordings_;
  std::unordered_map<void*, Piece> pieces_;
  std::size_t held_ = 0;
  bool recording_ = false;
};

}  // namespace bam::cuda
