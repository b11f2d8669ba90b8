#include "kernels/cuda/group.h"

#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace bam::cuda {
namespace {

// Between two looks at what is under way: short beside a step, and no core is kept busy.
constexpr auto kPause = std::chrono::microseconds(20);

}  // namespace

Group::Group(std::string device, void* compute, Group*& seat)
    : nccl_(open_nccl()), device_(std::move(device)), compute_(compute), seat_(seat) {
  seat_ = this;
}

Group::~Group() {
  seat_ = nullptr;
  if (comm_ == nullptr) return;
  bool in_order = std::uncaught_exceptions() == 0;
  try {
    if (in_order) {
      wait();
      synchronize(stream_.get());
    }
  } catch (const std::exception&) {  // too late for it to matter
    in_order = false;
  }
  static_cast<void>(in_order ? nccl_.comm_destroy(comm_) : nccl_.comm_abort(comm_));
}

void Group::check(NcclResult result, const std::string& what) const {
  if (result == kNcclSuccess) return;
  std::string text = "cuda: NCCL: " + what + ": " + nccl_.get_error_string(result);
  const char* const more = nccl_.get_last_error(comm_);
  if (more != nullptr && *more != '\0') text.append(": ").append(more);
  throw Error(text);
}

std::string Group::make_id() {
  NcclId id{};
  check(nccl_.get_unique_id(&id), "no id for a group");
  return {id.bytes, sizeof id.bytes};
}

void Group::join(const std::string& id, int rank, int size) {
  NcclId wanted{};
  if (id.size() != sizeof wanted.bytes) throw std::logic_error("the id of a group of other devices");
  std::memcpy(wanted.bytes, id.data(), id.size());
  check(nccl_.comm_init_rank(&comm_, size, wanted, rank),
        "GPU " + device_ + " cannot join those of all " + std::to_string(size) + " ranks");
}

void Group::follow_kernels() {
  record_event(before_.get(), compute_);
  hold_stream(stream_.get(), before_.get());
  started_ = true;
}

void Group::start_sum(TensorView x) {
  if (x.dtype != DType::f32 && x.dtype != DType::f64) throw std::logic_error("devices sum f32 or f64");
  follow_kernels();
  const NcclType type = x.dtype == DType::f32 ? kNcclFloat32 : kNcclFloat64;
  check(nccl_.all_reduce(x.data, x.data, static_cast<std::size_t>(x.count()), type, kNcclSum, comm_, stream_.get()),
        "a sum over the ranks");
}

void Group::start_broadcast(TensorView x, int from) {
  follow_kernels();
  check(nccl_.broadcast(x.data, x.data, x.bytes(), kNcclUint8, from, comm_, stream_.get()), "a broadcast to the ranks");
}

void Group::finish() {
  if (!started_) return;
  record_event(after_.get(), stream_.get());
  hold_stream(compute_, after_.get());
  started_ = false;
  under_way_ = true;
}

void Group::wait() {
  if (!under_way_) return;
  bool done = false;
  while (!done) {
    done = has_passed(after_.get());
    NcclResult error = kNcclSuccess;
    check(nccl_.comm_get_async_error(comm_, &error), "the state of the group");
    check(error, "a sum or broadcast over the ranks");
    if (!done) std::this_thread::sleep_for(kPause);
  }
  under_way_ = false;
}

}  // namespace bam::cuda
