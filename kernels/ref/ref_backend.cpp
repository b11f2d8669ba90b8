#include "kernels/ref/ref_backend.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "base/error.h"
#include "base/memory.h"

namespace bam::ref {
namespace {

constexpr std::align_val_t kAlignment{64};

template <typename To, typename From>
void convert(void* to, const void* from, Index count) {
  for (Index i = 0; i < count; ++i) static_cast<To*>(to)[i] = static_cast<To>(static_cast<const From*>(from)[i]);
}

void copy(TensorView to, ConstTensorView from) {
  if (to.count() != from.count()) {
    throw Error("copy: " + from.shape.text() + " to " + to.shape.text() + ", expected equal counts");
  }
  if (to.count() == 0) return;
  if (to.dtype == from.dtype) {
    std::memmove(to.data, from.data, from.bytes());
  } else if (to.dtype == DType::f64 && from.dtype == DType::f32) {
    convert<double, float>(to.data, from.data, to.count());
  } else if (to.dtype == DType::f32 && from.dtype == DType::f64) {
    convert<float, double>(to.data, from.data, to.count());
  } else {
    throw Error("copy: " + std::string(name_of(from.dtype)) + " to " + std::string(name_of(to.dtype)) +
                ", expected f64 and f32 or one dtype");
  }
}

}  // namespace

std::string RefBackend::describe() const {
  return "ref, float64 plain loops, 1 thread";
}

double RefBackend::available_bytes() const {
  return available_memory_bytes();
}

void* RefBackend::allocate(std::size_t bytes) {
  void* data = ::operator new(bytes, kAlignment, std::nothrow);
  if (data == nullptr) throw Error("memory: none left for " + std::to_string(bytes) + " bytes");
  return data;
}

void RefBackend::release(void* data) noexcept {
  ::operator delete(data, kAlignment);
}

void RefBackend::copy_in(TensorView device, ConstTensorView host) {
  copy(device, host);
}

void RefBackend::copy_out(TensorView host, ConstTensorView device) {
  copy(host, device);
}

void RefBackend::fill_zero(TensorView x) {
  if (x.count() > 0) std::memset(x.data, 0, x.bytes());
}

std::unique_ptr<Backend> make_ref_backend(int /*threads*/) {
  return std::make_unique<RefBackend>();
}

}  // namespace bam::ref
