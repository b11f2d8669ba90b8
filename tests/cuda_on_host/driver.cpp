// kernels/cuda/driver.h on the host. Everything happens at once, in the order of the calls; memory of the device begins
// as NaN between guard zones, which are looked at when it is given back. BAM_HOST_DEVICE_MIB limits it.
#include "kernels/cuda/driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "base/error.h"

namespace bam::cuda {
namespace {

constexpr std::size_t kGuard = 256;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoison = 0xFF;

// Never destroyed: a backend may be the last to go.
std::unordered_map<void*, std::size_t>& sizes() {
  static auto* const map = new std::unordered_map<void*, std::size_t>;
  return *map;
}
std::size_t used = 0;

std::size_t all_bytes() {
  const char* const limit = std::getenv("BAM_HOST_DEVICE_MIB");
  return (limit == nullptr ? std::size_t{4096} : static_cast<std::size_t>(std::atoll(limit))) << 20;
}

void check_guard(const unsigned char* guard) {
  for (std::size_t i = 0; i < kGuard; ++i) {
    if (guard[i] == kGuardByte) continue;
    std::fputs("a kernel wrote outside the memory of the device\n", stderr);
    std::abort();
  }
}

}  // namespace

int count_devices() {
  const char* const count = std::getenv("BAM_HOST_DEVICES");
  if (count == nullptr) return 1;
  if (std::string(count) == "0") throw Error("no CUDA device");
  return std::atoi(count);
}
DeviceInfo ask_device(int) {
  return {"an emulation on the host", all_bytes(), 90, "no CUDA"};
}
void open_device(int) {}

void* make_stream() {
  return &used;
}
void destroy_stream(void*) noexcept {}
void synchronize(void*) {}
void* make_event() {
  return &used;
}
void destroy_event(void*) noexcept {}
void record_event(void*, void*) {}
void wait_for_event(void*) {}

void* allocate_device_memory(std::size_t bytes) {
  if (used + bytes > all_bytes()) return nullptr;
  auto* const memory = static_cast<unsigned char*>(std::aligned_alloc(kGuard, bytes + 2 * kGuard));
  if (memory == nullptr) return nullptr;
  std::memset(memory, kGuardByte, kGuard);
  std::memset(memory + kGuard, kPoison, bytes);
  std::memset(memory + kGuard + bytes, kGuardByte, kGuard);
  used += bytes;
  sizes()[memory + kGuard] = bytes;
  return memory + kGuard;
}
void release_device_memory(void* data) noexcept {
  auto* const memory = static_cast<unsigned char*>(data) - kGuard;
  const std::size_t bytes = sizes().at(data);
  check_guard(memory);
  check_guard(memory + kGuard + bytes);
  used -= bytes;
  sizes().erase(data);
  std::free(memory);
}
std::size_t free_device_memory() {
  return all_bytes() - used;
}

void* allocate_pinned_memory(std::size_t bytes) {
  return std::malloc(bytes);
}
void release_pinned_memory(void* data) noexcept {
  std::free(data);
}

void copy_to_device(void* to, const void* from, std::size_t bytes, void*) {
  std::memcpy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes, void*) {
  std::memcpy(to, from, bytes);
}
void fill_zero(void* data, std::size_t bytes, void*) {
  std::memset(data, 0, bytes);
}

void fail_launch(int) {
  throw Error("cuda: a kernel was refused");
}

}  // namespace bam::cuda
