// boxes: base
// kernels/cuda/driver.cpp itself: what it says when something is missing or fails, and what it does not forget.
#include "kernels/cuda/driver.h"

#include "cuda_on_host/toolkit/fake.h"
#include "kernels/cuda/memory.h"
#include "support/catch.h"
#include "support/errors.h"

using namespace bam;
using namespace bam::cuda;
using bam::test::error_of;
using bam::test::fake::Machine;
using bam::test::fake::machine;

namespace {

// A whole one again, whatever becomes of it.
struct Fresh {
  Fresh() { machine() = {}; }
  ~Fresh() { machine() = {}; }
};

}  // namespace

TEST_CASE("driver: what is missing is said in a line") {
  const Fresh fresh;
  const auto count = [] { count_devices(); };
  CHECK(error_of(count) == "no error");
  CHECK(ask_device(0).runtime == "CUDA 13.0");
  CHECK(ask_device(0).capability == 90);
  CHECK(ask_device(0).bus_id == "0000:0A:00.0");
  machine().driver = 0;
  CHECK(error_of(count) == "no NVIDIA driver");
  machine().driver = 12020;
  CHECK(error_of(count) == "the driver is for CUDA 12.2, expected one for 13.0 or later");
  machine() = {};
  machine().devices = 0;
  CHECK(error_of(count) == "no CUDA device");
  machine().failures["cudaGetDeviceCount"] = cudaErrorNoDevice;
  CHECK(error_of(count) == "no CUDA device");
  machine() = {};
  machine().major = 7;
  machine().minor = 5;
  CHECK(error_of([] { open_device(0); }) == "a device of paper has compute capability 7.5, expected 8.0 or later");
}

TEST_CASE("driver: no memory is no fault, and says how much there is") {
  const Fresh fresh;
  machine().free_bytes = 10 << 20;
  CHECK(allocate_device_memory(std::size_t{11} << 20) == nullptr);
  {
    Memory memory;
    void* const small = memory.take(3 << 20);
    memory.give(small);
    CHECK(error_of([&] { memory.take(64 << 20); }) ==
          "cuda: memory: 64 MiB are needed at once, 10 MiB of the device are free and 0 MiB in use here, a smaller "
          "model, batch or context is needed");
    CHECK(machine().allocated == 0);  // what was kept has been given back before
    CHECK(memory.take(3 << 20) != nullptr);
  }
  CHECK(machine().allocated == 0);
  CHECK(error_of([] { allocate_pinned_memory(std::size_t{64} << 20); }) ==
        "cuda: memory of the host for copies: out of memory");
}

TEST_CASE("driver: a launch that is refused says what it needed") {
  const Fresh fresh;
  CHECK(error_of([] { fail_launch(cudaErrorInvalidConfiguration, 0); }) == "cuda: a kernel was refused: some error");
  machine().shared_bytes = 99 << 10;
  CHECK(error_of([] { fail_launch(cudaErrorInvalidValue, 117000); }) ==
        "cuda: a kernel needs 115 KiB of shared memory, a block of this device has at most 99 (smaller heads?)");
}

TEST_CASE("driver: an event that has not passed is no fault") {
  const Fresh fresh;
  void* const stream = make_stream();
  void* const event = make_event();
  machine().failures = {{"cudaEventQuery", cudaErrorNotReady}};
  CHECK(!has_passed(event));
  machine() = {};
  CHECK(has_passed(event));
  hold_stream(stream, event);
  machine().failures = {{"cudaStreamWaitEvent", cudaErrorInvalidResourceHandle}};
  CHECK(error_of([&] { hold_stream(stream, event); }) == "cuda: the device failed: some error");
}

TEST_CASE("driver: a recording that cannot be made leaves nothing behind") {
  const Fresh fresh;
  void* const stream = make_stream();
  begin_recording(stream);
  CHECK(error_of([&] { synchronize(stream); }) ==
        "cuda: the device failed: operation not permitted when stream is capturing");
  void* const recording = end_recording(stream);
  REQUIRE(recording != nullptr);
  play_recording(recording, stream);
  destroy_recording(recording);
  for (const char* const call : {"cudaStreamEndCapture", "cudaGraphInstantiate"}) {
    machine().failures = {{call, cudaErrorStreamCaptureInvalidated}};
    begin_recording(stream);
    CHECK(end_recording(stream) == nullptr);
  }
  machine() = {};
  synchronize(stream);  // goes on as before
}
