// JoinedDevices - the devices of all ranks as one group, where tensors are in the memory of devices: gradients and
// parameters then go from device to device. Where they are the host's, or there is one rank, it does nothing.
#pragma once

#include "dist/communicator.h"
#include "kernels/backend.h"

namespace bam::train {

class JoinedDevices {
 public:
  explicit JoinedDevices(dist::Communicator& ranks) : ranks_(ranks) {}
  ~JoinedDevices() { ranks_.use(nullptr); }
  JoinedDevices(const JoinedDevices&) = delete;
  JoinedDevices& operator=(const JoinedDevices&) = delete;

  // All ranks together; the backend outlives this. Throws Error on all ranks where they compute on different kinds of
  // devices, where two have the same one, or where something is missing.
  void join(Backend& backend);
  bool are_joined() const { return joined_; }

 private:
  dist::Communicator& ranks_;
  bool joined_ = false;
};

}  // namespace bam::train
