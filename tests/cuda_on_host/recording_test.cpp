// boxes: kernels
// Recordings of routines: that they are made, and that the emulation is as strict with them as a device.
#include "cuda_on_host/emulation.h"
#include "cuda_on_host/streams.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/driver.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

int calls_of(Backend& backend, const std::function<void()>& ops, int times) {
  Routine routine;
  int calls = 0;
  for (int i = 0; i < times; ++i) {
    backend.repeat(routine, [&] {
      ++calls;
      ops();
    });
  }
  return calls;
}

}  // namespace

TEST_CASE("cuda on host: recordings, ops are asked for twice at most") {
  const auto backend = cuda::make_cuda_backend(0);
  const Tensor x(*backend, DType::f32, {100}), total(*backend, DType::f64, {1});
  backend->fill_zero(x);
  backend->fill_zero(total);
  CHECK(calls_of(
            *backend, [&] { backend->sum({.x = x, .total = total}); }, 10) == 2);
  // What cannot be recorded is tried three times.
  CHECK(calls_of(
            *backend, [&] { backend->synchronize(); }, 10) == 10 + 3);
}

TEST_CASE("cuda on host: recordings, the emulation keeps arguments as they were and refuses the rest") {
  float value = 1;
  float seen[2] = {0, 0};
  cuda::begin_recording(nullptr);
  cuda::on_host::submit(nullptr, [&seen, copied = value, &value] {
    seen[0] = copied;
    seen[1] = value;
  });
  void* const recording = cuda::end_recording(nullptr);
  CHECK(seen[0] == 0);
  value = 2;
  cuda::play_recording(recording, nullptr);
  CHECK(seen[0] == 1);
  CHECK(seen[1] == 2);
  cuda::destroy_recording(recording);

  cuda::begin_recording(nullptr);
  CHECK_THROWS_WITH(cuda::allocate_device_memory(16), "cuda: memory: operation not permitted when stream is capturing");
  CHECK(cuda::end_recording(nullptr) == nullptr);
  cuda::begin_recording(nullptr);
  CHECK_THROWS_WITH(cuda::synchronize(nullptr),
                    "cuda: the device failed: operation not permitted when stream is capturing");
  CHECK(cuda::end_recording(nullptr) == nullptr);
}

TEST_CASE("cuda on host: launches that a device refuses") {
  using cuda::on_host::check_launch;
  check_launch({0x7fffffff, 65535, 65535}, 1024, 163 << 10, 4096);
  CHECK_THROWS(check_launch({0x80000000U, 1, 1}, 128, 0, 8));
  CHECK_THROWS(check_launch({1, 65536, 1}, 128, 0, 8));
  CHECK_THROWS(check_launch({1, 1, 65536}, 128, 0, 8));
  CHECK_THROWS(check_launch({0, 1, 1}, 128, 0, 8));
  CHECK_THROWS(check_launch({1, 1, 1}, 1056, 0, 8));
  CHECK_THROWS(check_launch({1, 1, 1}, 100, 0, 8));
  CHECK_THROWS(check_launch({1, 1, 1}, 128, (163 << 10) + 1, 8));
  CHECK_THROWS(check_launch({1, 1, 1}, 128, 0, 4097));
}
