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
  for (const auto& [data, size] : sizes_) release_device_memory(data);
}

void* Memory::take(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size < bytes) throw Error("cuda: memory: " + std::to_string(bytes) + " bytes are more than there can be");
  // What is an eighth larger will do; more would waste what another request needs.
  const auto fit = kept_.lower_bound(size);
  if (fit != kept_.end() && fit->first <= size + size / 8) {
    void* const data = fit->second;
    kept_.erase(fit);
    return data;
  }
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
  sizes_[data] = size;
  held_ += size;
  return data;
}

void Memory::give(void* data) noexcept {
  if (data != nullptr) kept_.emplace(sizes_.at(data), data);
}

std::size_t Memory::kept_bytes() const {
  std::size_t sum = 0;
  for (const auto& [size, data] : kept_) sum += size;
  return sum;
}

void Memory::release_kept() noexcept {
  for (const auto& [size, data] : kept_) {
    release_device_memory(data);
    sizes_.erase(data);
    held_ -= size;
  }
  kept_.clear();
}

}  // namespace bam::cuda
