#include "kernels/cuda/memory.h"

#include <string>

#include "base/error.h"
#include "kernels/cuda/driver.h"

namespace bam::cuda {
namespace {

// Small requests in steps of 512 bytes, large ones of 2 MiB, which is a page of the device.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  const std::size_t step = bytes < kPage / 2 ? 512 : kPage;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

}  // namespace

Memory::~Memory() {
  for (const auto& [data, piece] : pieces_) release_device_memory(data);
}

// What is an eighth larger will do; more would waste what another request needs.
void* Memory::take_from(Kept& kept, std::size_t size) {
  const auto fit = kept.lower_bound(size);
  if (fit == kept.end() || fit->first > size + size / 8) return nullptr;
  void* const data = fit->second;
  kept.erase(fit);
  return data;
}

void* Memory::take_for_recording(std::size_t size) {
  if (void* const data = take_from(kept_by_recordings_, size)) return data;
  void* const data = take_from(kept_, size);
  if (data == nullptr) throw Error("cuda: memory: none is kept for a recording");
  pieces_.at(data).of_recordings = true;
  return data;
}

void* Memory::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size < bytes) throw Error("cuda: memory: " + std::to_string(bytes) + " bytes are more than there can be");
  if (recording_) return take_for_recording(size);
  if (void* const data = take_from(kept_, size)) return data;
  void* data = allocate_device_memory(size);
  if (data == nullptr) {
    release_kept();
    data = allocate_device_memory(size);
  }
  if (data == nullptr) {
    throw Error("cuda: memory: " + std::to_string(bytes >> 20) + " MiB are needed at once, " +
                std::to_string(free_device_memory() >> 20) + " MiB of the device are free and " +
                std::to_string(held_ >> 20) + " MiB in use here, a smaller model, batch or context is needed");
  }
  pieces_[data] = {size, false};
  held_ += size;
  return data;
}

void Memory::give(void* data) noexcept {
  if (data == nullptr) return;
  const Piece& piece = pieces_.at(data);
  (piece.of_recordings ? kept_by_recordings_ : kept_).emplace(piece.size, data);
}

std::size_t Memory::kept_bytes() const {
  std::size_t sum = 0;
  for (const auto& [size, data] : kept_) sum += size;
  return sum;
}

void Memory::release_kept() noexcept {
  for (const auto& [size, data] : kept_) {
    release_device_memory(data);
    pieces_.erase(data);
    held_ -= size;
  }
  kept_.clear();
}

}  // namespace bam::cuda
