// boxes: base
// Behind all others, by its name: afterwards the device is gone for this process.
#include "cuda_on_host/toolkit/fake.h"
#include "kernels/cuda/driver.h"
#include "support/catch.h"
#include "support/errors.h"

using namespace bam;
using namespace bam::cuda;
using bam::test::error_of;
using bam::test::fake::machine;

TEST_CASE("driver: what a device does not recover from is said by every call from then on") {
  void* const stream = make_stream();
  const std::string expected =
      "cuda: the device failed: an illegal memory access was encountered; the device can do nothing more for this "
      "process, run it again";
  machine().failures["cudaStreamSynchronize"] = cudaErrorIllegalAddress;
  CHECK(error_of([&] { synchronize(stream); }) == expected);
  machine() = {};
  CHECK(error_of([&] { synchronize(stream); }) == expected);
  CHECK(error_of([] { allocate_device_memory(16); }) == expected);
  CHECK(error_of([] { fail_launch(cudaErrorInvalidValue, 0); }) == expected);
  CHECK(error_of([&] { play_recording(nullptr, stream); }) == expected);
}
