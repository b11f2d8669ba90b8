// Group - DeviceGroup over NCCL. Sums and broadcasts go to a stream of their own, beside the kernels: what is started
// waits there for the kernels before it, and finish() lets the kernels after it wait, both without the host.
#pragma once

#include "kernels/cuda/nccl.h"
#include "kernels/cuda/stream.h"
#include "kernels/device_group.h"

namespace bam::cuda {

class Group final : public DeviceGroup {
 public:
  // `compute` is the stream of the kernels. `seat` points to this group for as long as it lives.
  Group(std::string device, void* compute, Group*& seat);
  ~Group() override;

  std::string device() const override { return device_; }
  std::string make_id() override;
  void join(const std::string& id, int rank, int size) override;
  void start_sum(TensorView x) override;
  void start_broadcast(TensorView x, int from) override;
  void finish() override;

  // The host waits until all that was finished is done. Throws Error when the group has failed meanwhile, which no
  // other wait would notice: the device's part of a sum waits for ever for ranks that cannot be reached.
  void wait();

 private:
  void follow_kernels();
  void check(NcclResult result, const std::string& what) const;

  const Nccl& nccl_;
  std::string device_;
  void* compute_;
  Group*& seat_;
  Stream stream_;
  Event before_, after_;
  NcclComm comm_ = nullptr;
  bool started_ = false;    // since the last finish()
  bool under_way_ = false;  // since the last wait()
};

}  // namespace bam::cuda
