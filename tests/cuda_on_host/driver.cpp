// kernels/cuda/driver.h on the host. Memory of the device begins as NaN between guard zones, which are looked at when
// it is given back. BAM_HOST_DEVICES says how many devices there are (1), BAM_HOST_DEVICE_MIB limits their memory;
// after BAM_HOST_DEVICE_WAITS waits for the device it fails for good. While a recording is made, what may not be done
// meanwhile ruins it, and the copies are part of it, with the addresses that they have now.
#include "kernels/cuda/driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "cuda_on_host/streams.h"

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

// An error that a device does not recover from, after so many waits: every call says so from then on.
long waits = 0;
void require_device() {
  static const char* const limit = std::getenv("BAM_HOST_DEVICE_WAITS");
  if (limit == nullptr || waits < std::atol(limit)) return;
  throw Error(
      "cuda: the device failed: an illegal memory access was encountered; the device can do nothing more for this "
      "process, run it again");
}

bool ruined = false;  // the recording

void require_no_recording(const char* what) {
  if (!on_host::is_recording()) return;
  ruined = true;
  throw Error(std::string("cuda: ") + what + ": operation not permitted when stream is capturing");
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
DeviceInfo ask_device(int number) {
  return {"an emulation on the host", all_bytes(), 90, "no CUDA", "0000:0" + std::to_string(number) + ":00.0"};
}
void open_device(int) {}

void* make_stream() {
  return on_host::make_stream();
}
void destroy_stream(void* stream) noexcept {
  on_host::destroy_stream(stream);
}
void synchronize(void* stream) {
  require_no_recording("the device failed");
  ++waits;
  require_device();
  on_host::synchronize(stream);
}
void* make_event() {
  return on_host::make_event();
}
void destroy_event(void* event) noexcept {
  on_host::destroy_event(event);
}
void record_event(void* event, void* stream) {
  on_host::record_event(event, stream);
}
void wait_for_event(void* event) {
  require_no_recording("the device failed");
  ++waits;
  require_device();
  on_host::wait_for_event(event);
}
bool has_passed(void* event) {
  require_no_recording("the device failed");
  require_device();
  if (on_host::has_passed(event)) return true;
  on_host::wait_for_event(event);  // by the next time that somebody asks
  return false;
}
void hold_stream(void* stream, void* event) {
  on_host::hold_stream(stream, event);
}

void* allocate_device_memory(std::size_t bytes) {
  require_no_recording("memory");
  require_device();
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
  on_host::finish_all_streams();  // as a device does
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
  require_no_recording("memory of the host for copies");
  return std::malloc(bytes);
}
void release_pinned_memory(void* data) noexcept {
  on_host::finish_all_streams();
  std::free(data);
}

void copy_to_device(void* to, const void* from, std::size_t bytes, void* stream) {
  require_device();
  on_host::submit(stream, [=] { std::memcpy(to, from, bytes); });
}
void copy_to_host(void* to, const void* from, std::size_t bytes, void* stream) {
  require_device();
  on_host::submit(stream, [=] { std::memcpy(to, from, bytes); });
}
void fill_zero(void* data, std::size_t bytes, void* stream) {
  require_device();
  on_host::submit(stream, [=] { std::memset(data, 0, bytes); });
}

using Recorded = std::vector<std::function<void()>>;

void begin_recording(void*) {
  ruined = false;
  on_host::begin_recording();
}
void* end_recording(void*) {
  Recorded recorded = on_host::end_recording();
  return ruined ? nullptr : new Recorded(std::move(recorded));
}
void play_recording(void* recording, void* stream) {
  for (const auto& work : *static_cast<const Recorded*>(recording)) on_host::submit(stream, work);
}
void destroy_recording(void* recording) noexcept {
  delete static_cast<Recorded*>(recording);
}

void fail_launch(int, std::size_t) {
  throw Error("cuda: a kernel was refused");
}

}  // namespace bam::cuda
