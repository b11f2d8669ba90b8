#include "kernels/cuda/transfer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"
#include "kernels/cuda/driver.h"

namespace bam::cuda {
namespace {

constexpr Index kSlotBytes = Index{1} << 20;

double load(DType dtype, const void* from, Index i) {
  switch (dtype) {
    case DType::f64:
      return static_cast<const double*>(from)[i];
    case DType::f32:
      return static_cast<double>(static_cast<const float*>(from)[i]);
    default:
      return static_cast<double>(
          std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(from)[i]) << 16));
  }
}

// By way of float, as the other backends have it: rounding twice differs from rounding once only where a double lies
// within 2^-29 of a tie.
std::uint16_t bf16_of(double x) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (x != x) return static_cast<std::uint16_t>((bits | 0x400000U) >> 16);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

void store(DType dtype, void* to, Index i, double x) {
  switch (dtype) {
    case DType::f64:
      static_cast<double*>(to)[i] = x;
      break;
    case DType::f32:
      static_cast<float*>(to)[i] = static_cast<float>(x);
      break;
    default:
      static_cast<std::uint16_t*>(to)[i] = bf16_of(x);
  }
}

void convert(DType from_type, const void* from, DType to_type, void* to, Index count) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * size_of(to_type));
    return;
  }
  for (Index i = 0; i < count; ++i) store(to_type, to, i, load(from_type, from, i));
}

void check_pair(const ConstTensorView& from, const TensorView& to) {
  const bool differ = from.dtype != to.dtype;
  if (from.count() != to.count() || (differ && (from.dtype == DType::i32 || to.dtype == DType::i32))) {
    throw Error("copy: " + std::string(name_of(from.dtype)) + from.shape.text() + " does not fit " +
                std::string(name_of(to.dtype)) + to.shape.text() + ", expected equal counts of real numbers or of i32");
  }
}

template <typename T>
T* at(T* data, DType dtype, Index i) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte*>(data) + i * static_cast<Index>(size_of(dtype));
}

}  // namespace

Transfer::~Transfer() {
  for (const Slot& slot : slots_) {
    if (slot.event != nullptr) destroy_event(slot.event);
    if (slot.memory != nullptr) release_pinned_memory(slot.memory);
  }
}

Transfer::Slot& Transfer::next_slot() {
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % kSlots;
  if (slot.memory == nullptr) {
    slot.memory = allocate_pinned_memory(kSlotBytes);
    slot.event = make_event();
  } else {
    wait_for_event(slot.event);
  }
  return slot;
}

void Transfer::in(const TensorView& device, const ConstTensorView& host) {
  check_pair(host, device);
  const Index piece = kSlotBytes / static_cast<Index>(size_of(device.dtype));
  for (Index first = 0; first < host.count(); first += piece) {
    const Index count = std::min(piece, host.count() - first);
    Slot& slot = next_slot();
    convert(host.dtype, at(host.data, host.dtype, first), device.dtype, slot.memory, count);
    copy_to_device(at(device.data, device.dtype, first), slot.memory,
                   static_cast<std::size_t>(count) * size_of(device.dtype), stream_);
    record_event(slot.event, stream_);
  }
}

void Transfer::out(const TensorView& host, const ConstTensorView& device) {
  check_pair(device, host);
  const Index piece = kSlotBytes / static_cast<Index>(size_of(device.dtype));
  const Index pieces = (host.count() + piece - 1) / piece;
  Slot* on_their_way[kSlots];
  const auto fetch = [&](Index i) {
    const Index count = std::min(piece, host.count() - i * piece);
    Slot& slot = next_slot();
    copy_to_host(slot.memory, at(device.data, device.dtype, i * piece),
                 static_cast<std::size_t>(count) * size_of(device.dtype), stream_);
    record_event(slot.event, stream_);
    on_their_way[i % kSlots] = &slot;
  };
  const auto deliver = [&](Index i) {
    const Slot& slot = *on_their_way[i % kSlots];
    wait_for_event(slot.event);
    convert(device.dtype, slot.memory, host.dtype, at(host.data, host.dtype, i * piece),
            std::min(piece, host.count() - i * piece));
  };
  // Half of the slots ahead: the device fetches while the host converts.
  constexpr Index kAhead = kSlots / 2;
  for (Index i = 0; i < pieces + kAhead; ++i) {
    if (i < pieces) fetch(i);
    if (i >= kAhead) deliver(i - kAhead);
  }
}

}  // namespace bam::cuda
