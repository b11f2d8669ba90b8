#include "kernels/cuda/driver.h"

#include <cuda_runtime.h>

#include "base/error.h"

namespace bam::cuda {
namespace {

// What made the context unusable; empty as long as it works. Never destroyed: a backend may be the last to go.
std::string& broken() {
  static auto* const text = new std::string;
  return *text;
}

// These are about one call; everything else stays with the context for good.
bool is_about_the_call(cudaError_t error) {
  return error == cudaErrorMemoryAllocation || error == cudaErrorInvalidValue || error == cudaErrorNoDevice ||
         error == cudaErrorInvalidDevice || error == cudaErrorInsufficientDriver ||
         error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidResourceHandle ||
         error == cudaErrorLaunchOutOfResources || error == cudaErrorNoKernelImageForDevice ||
         error == cudaErrorInvalidDeviceFunction || error == cudaErrorUnsupportedPtxVersion ||
         error == cudaErrorDevicesUnavailable ||
         (error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread);
}

[[noreturn]] void fail(cudaError_t error, const char* what) {
  cudaGetLastError();  // the next call should not find it again
  const std::string text = std::string("cuda: ") + what + ": " + cudaGetErrorString(error);
  if (is_about_the_call(error)) throw Error(text);
  broken() = text + "; the device can do nothing more for this process, run it again";
  throw Error(broken());
}

void check(cudaError_t error, const char* what) {
  if (!broken().empty()) throw Error(broken());
  if (error != cudaSuccess) fail(error, what);
}

cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}
cudaEvent_t event_of(void* event) {
  return static_cast<cudaEvent_t>(event);
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

int count_devices() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) throw Error("no NVIDIA driver");
  cudaRuntimeGetVersion(&runtime);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    throw Error("the driver is for CUDA " + version_text(driver) + ", expected one for " + version_text(runtime) +
                " or later");
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) throw Error("no CUDA device");
  if (error != cudaSuccess) throw Error(cudaGetErrorString(error));
  return count;
}

DeviceInfo ask_device(int number) {
  cudaDeviceProp properties{};
  int runtime = 0;
  check(cudaGetDeviceProperties(&properties, number), "the device cannot be asked");
  cudaRuntimeGetVersion(&runtime);
  char bus_id[32] = "";
  check(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, number), "the device cannot be asked");
  return {properties.name, properties.totalGlobalMem, 10 * properties.major + properties.minor,
          "CUDA " + version_text(runtime), bus_id};
}

void open_device(int number) {
  const DeviceInfo info = ask_device(number);
  if (info.capability < 80) {
    throw Error(info.name + " has compute capability " + std::to_string(info.capability / 10) + "." +
                std::to_string(info.capability % 10) + ", expected 8.0 or later");
  }
  check(cudaSetDevice(number), "the device cannot be opened");
  check(cudaFree(nullptr), "the device cannot be opened");  // makes the context now, where the message fits
}

void* make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "no stream");
  return stream;
}
void destroy_stream(void* stream) noexcept {
  cudaStreamDestroy(stream_of(stream));
}
void synchronize(void* stream) {
  check(cudaStreamSynchronize(stream_of(stream)), "the device failed");
}

void* make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "no event");
  return event;
}
void destroy_event(void* event) noexcept {
  cudaEventDestroy(event_of(event));
}
void record_event(void* event, void* stream) {
  check(cudaEventRecord(event_of(event), stream_of(stream)), "the device failed");
}
void wait_for_event(void* event) {
  check(cudaEventSynchronize(event_of(event)), "the device failed");
}
bool has_passed(void* event) {
  const cudaError_t found = cudaEventQuery(event_of(event));
  if (found == cudaErrorNotReady) cudaGetLastError();
  check(found == cudaErrorNotReady ? cudaSuccess : found, "the device failed");
  return found == cudaSuccess;
}
void hold_stream(void* stream, void* event) {
  check(cudaStreamWaitEvent(stream_of(stream), event_of(event), 0), "the device failed");
}

void* allocate_device_memory(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(error, "memory");
  return data;
}
void release_device_memory(void* data) noexcept {
  cudaFree(data);
}
std::size_t free_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

void* allocate_pinned_memory(std::size_t bytes) {
  void* data = nullptr;
  check(cudaMallocHost(&data, bytes), "memory of the host for copies");
  return data;
}
void release_pinned_memory(void* data) noexcept {
  cudaFreeHost(data);
}

void copy_to_device(void* to, const void* from, std::size_t bytes, void* stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(stream)), "a copy to the device");
}
void copy_to_host(void* to, const void* from, std::size_t bytes, void* stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(stream)), "a copy from the device");
}
void fill_zero(void* data, std::size_t bytes, void* stream) {
  check(cudaMemsetAsync(data, 0, bytes, stream_of(stream)), "the device failed");
}

void begin_recording(void* stream) {
  check(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal), "no recording");
}
void* end_recording(void* stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  if (cudaStreamEndCapture(stream_of(stream), &graph) == cudaSuccess && graph != nullptr) {
    if (cudaGraphInstantiate(&made, graph, 0) != cudaSuccess) made = nullptr;
    cudaGraphDestroy(graph);
  }
  if (made == nullptr) cudaGetLastError();  // the ops are done one by one, and tell what is the matter
  return made;
}
void play_recording(void* recording, void* stream) {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), stream_of(stream)), "the device failed");
}
void destroy_recording(void* recording) noexcept {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}

void fail_launch(int error, std::size_t shared_bytes) {
  if (!broken().empty()) throw Error(broken());
  int device = 0;
  int most = 0;
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess;
  if (known && shared_bytes > static_cast<std::size_t>(most)) {
    cudaGetLastError();
    throw Error("cuda: a kernel needs " + std::to_string((shared_bytes + 1023) >> 10) +
                " KiB of shared memory, a block of this device has at most " + std::to_string(most >> 10) +
                " (smaller heads?)");
  }
  fail(static_cast<cudaError_t>(error), "a kernel was refused");
}

}  // namespace bam::cuda
