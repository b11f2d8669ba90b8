// Communicator - what the processes of one job (ranks) tell each other. Rank 0 reads, writes and speaks for all. Calls
// of all ranks come in the same order; errors of the library underneath end the job. One thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/device_group.h"

namespace bam::dist {

class Communicator {
 public:
  virtual ~Communicator() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  virtual int on_this_machine() const = 0;   // ranks, this one included
  virtual int place_on_machine() const = 0;  // among them, from 0 on

  // Bytes from one rank to another, any number; both sides know how many.
  virtual void send(std::span<const std::byte> bytes, int to) = 0;
  virtual void receive(std::span<std::byte> bytes, int from) = 0;

  // The numbers of all ranks, those of rank 0 first: as many of each. Whoever adds them up has the same bits
  // everywhere.
  virtual std::vector<double> gather_all(std::span<const double> own) = 0;

  // The text of rank `from`, on all.
  void broadcast(std::string& text, int from);

  // Tensors, which are the host's or, after use(), those of a device: of a group that all ranks have joined, and that
  // is given up by use(nullptr). The two are under way when they return; progress() lets them move on, and until
  // finish() their memory is not touched. start_sum: x becomes the sum over all ranks, with the same bits on each, and
  // again at a repeat.
  void use(std::unique_ptr<DeviceGroup> devices) { devices_ = std::move(devices); }
  void start_sum(TensorView x);  // f32 or f64
  void start_broadcast(TensorView x, int from);
  void progress();
  void finish();  // of devices: what is asked of the backend from here on comes behind

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}

 private:
  virtual void do_progress() = 0;
  virtual void do_finish() = 0;
  virtual void do_start_sum(std::span<float> x) = 0;
  virtual void do_start_sum(std::span<double> x) = 0;
  virtual void do_start_broadcast(std::span<std::byte> x, int from) = 0;

  int rank_, size_;
  std::unique_ptr<DeviceGroup> devices_;
};

// One process by itself.
Communicator& alone();

// What the launcher (mpirun, srun) says of this process. Known before anything is connected.
struct Launch {
  int rank = 0;
  int size = 1;
};
Launch launch_of_environment();

// Joins the other ranks. Throws Error where this build or this machine has no MPI, or MPI sees other ranks than the
// launcher started.
std::unique_ptr<Communicator> connect(const Launch& launch);

}  // namespace bam::dist
