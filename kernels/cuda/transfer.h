// Transfer - copies between host and device through pinned memory of its own, converting on the host where the dtypes
// differ. A copy to the device returns as soon as the host's memory may be used again: up to sixteen pieces are on
// their way while the device computes.
#pragma once

#include "kernels/tensor.h"

namespace bam::cuda {

class Transfer {
 public:
  explicit Transfer(void* stream) : stream_(stream) {}
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void in(const TensorView& device, const ConstTensorView& host);
  void out(const TensorView& host, const ConstTensorView& device);  // the values are there when it returns

 private:
  static constexpr int kSlots = 16;
  struct Slot {
    void* memory = nullptr;
    void* event = nullptr;  // recorded behind the last copy from or to this memory
  };
  Slot& next_slot();  // free to be used

  void* stream_;
  Slot slots_[kSlots];
  int next_ = 0;
};

}  // namespace bam::cuda
