// The device's runtime, as much of it as this backend uses. driver.cpp is over CUDA's own; tests/cuda_on_host has one
// over the host's memory. Functions that can fail throw Error with one line; after a failure that the device does not
// recover from every call throws that same line.
#pragma once

#include <cstddef>
#include <string>

namespace bam::cuda {

// How many devices there are. Throws Error when there is no driver, an old one, or no device: "no NVIDIA driver".
int count_devices();

struct DeviceInfo {
  std::string name;  // "NVIDIA H200"
  std::size_t bytes = 0;
  int capability = 0;   // 90 for sm_90
  std::string runtime;  // "CUDA 13.0"
  std::string bus_id;   // "0000:3B:00.0": of one machine's devices, this one
};
DeviceInfo ask_device(int number);  // takes nothing of it

// Makes device `number` that of this process. Throws Error also for one older than sm_80.
void open_device(int number);

void* make_stream();
void destroy_stream(void* stream) noexcept;
void synchronize(void* stream);

void* make_event();
void destroy_event(void* event) noexcept;
void record_event(void* event, void* stream);
void wait_for_event(void* event);  // returns at once for one that was never recorded
bool has_passed(void* event);      // likewise true
// What the stream is given from here on comes behind what the event was last recorded behind, on another stream.
void hold_stream(void* stream, void* event);

void* allocate_device_memory(std::size_t bytes);  // null when there is none
void release_device_memory(void* data) noexcept;
std::size_t free_device_memory();

void* allocate_pinned_memory(std::size_t bytes);  // host memory that the device copies from and to by itself
void release_pinned_memory(void* data) noexcept;

// In the order of the stream; the host side of a copy is pinned.
void copy_to_device(void* to, const void* from, std::size_t bytes, void* stream);
void copy_to_host(void* to, const void* from, std::size_t bytes, void* stream);
void fill_zero(void* data, std::size_t bytes, void* stream);

// A recording is what a stream is given meanwhile, kept in place of being done: launches with the values of their
// arguments, and fills. Nothing may be allocated, waited for or copied before it ends. end_recording returns null when
// nothing could be kept.
void begin_recording(void* stream);
void* end_recording(void* stream);
void play_recording(void* recording, void* stream);
void destroy_recording(void* recording) noexcept;

// What went wrong with a launch, a cudaError_t, that asked for so much shared memory.
[[noreturn]] void fail_launch(int error, std::size_t shared_bytes);

}  // namespace bam::cuda
