// DeviceGroup - the devices of several processes, which sum tensors and hand them on among themselves. All processes of
// a group call its functions in the same order, with tensors of the same sizes. Every function throws Error with one
// line.
#pragma once

#include <string>

#include "kernels/tensor.h"

namespace bam {

class DeviceGroup {
 public:
  DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;
  // Leaves the group when all that was started is done. While an exception is on its way nothing is waited for: the
  // others may not come any more.
  virtual ~DeviceGroup() = default;

  // The device of this process: another process on this machine has the same text if it has the same device.
  virtual std::string device() const = 0;

  // Of a group that is to be: made by one process, for all.
  virtual std::string make_id() = 0;
  // Waits until all `size` processes have come, each with a rank of its own; for ever, where one does not.
  virtual void join(const std::string& id, int rank, int size) = 0;

  // x, a tensor of the backend, becomes its sum over all ranks (f32 or f64, the same bits on each), or what it is on
  // rank `from`. That is done behind the ops that were asked for before and beside those that follow; until finish()
  // nothing else touches x.
  virtual void start_sum(TensorView x) = 0;
  virtual void start_broadcast(TensorView x, int from) = 0;
  // Ops that are asked for from here on come behind all that was started. The host does not wait; what goes wrong
  // meanwhile is told of by the next call that waits for the device (Backend::copy_out, synchronize).
  virtual void finish() = 0;
};

}  // namespace bam
