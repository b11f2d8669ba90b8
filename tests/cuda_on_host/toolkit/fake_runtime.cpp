#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_on_host/toolkit/fake.h"

namespace bam::test::fake {

Machine& machine() {
  static Machine one;
  return one;
}

namespace {

cudaError_t result_of(const char* call) {
  const auto found = machine().failures.find(call);
  return found == machine().failures.end() ? cudaSuccess : found->second;
}

// Of what waits or allocates: not while a stream is recorded.
cudaError_t unless_recording(const char* call) {
  return machine().recording ? cudaErrorStreamCaptureUnsupported : result_of(call);
}

cudaError_t take(void** data, std::size_t bytes, const char* call) {
  const cudaError_t error = unless_recording(call);
  if (error != cudaSuccess) return error;
  if (bytes > machine().free_bytes) return cudaErrorMemoryAllocation;
  *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  ++machine().allocated;
  return cudaSuccess;
}
cudaError_t give(void* data) {
  if (data != nullptr) --machine().allocated;
  std::free(data);
  return cudaSuccess;
}

}  // namespace
}  // namespace bam::test::fake

using namespace bam::test::fake;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  *version = machine().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = machine().runtime;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  if (machine().driver < machine().runtime) return cudaErrorInsufficientDriver;
  *count = machine().devices;
  return result_of("cudaGetDeviceCount");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device >= machine().devices) return cudaErrorInvalidDevice;
  *properties = {};
  std::strcpy(properties->name, "a device of paper");
  properties->totalGlobalMem = std::size_t{1} << 30;
  properties->major = machine().major;
  properties->minor = machine().minor;
  return result_of("cudaGetDeviceProperties");
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (device >= machine().devices) return cudaErrorInvalidDevice;
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:%02X:00.0", 10 + device);
  return result_of("cudaDeviceGetPCIBusId");
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = machine().shared_bytes;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return result_of("cudaSetDevice");
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    default:
      return "some error";
  }
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(&machine());
  return result_of("cudaStreamCreateWithFlags");
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return unless_recording("cudaStreamSynchronize");
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(&machine());
  return unless_recording("cudaEventCreateWithFlags");
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return result_of("cudaEventRecord");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return unless_recording("cudaEventSynchronize");
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return unless_recording("cudaEventQuery");
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return result_of("cudaStreamWaitEvent");
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return take(data, bytes, "cudaMalloc");
}
cudaError_t cudaFree(void* data) {
  if (data == nullptr) return result_of("cudaFree");
  return give(data);
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return take(data, bytes, "cudaMallocHost");
}
cudaError_t cudaFreeHost(void* data) {
  return give(data);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = machine().free_bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return result_of("cudaMemcpyAsync");
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return result_of("cudaMemsetAsync");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  machine().recording = true;
  return result_of("cudaStreamBeginCapture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  machine().recording = false;
  const cudaError_t error = result_of("cudaStreamEndCapture");
  *graph = error == cudaSuccess ? reinterpret_cast<cudaGraph_t>(&machine()) : nullptr;
  return error;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t, unsigned long long) {
  *made = reinterpret_cast<cudaGraphExec_t>(&machine());
  return result_of("cudaGraphInstantiate");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return result_of("cudaGraphLaunch");
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return cudaSuccess;
}

}  // extern "C"
