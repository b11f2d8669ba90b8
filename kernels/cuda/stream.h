// A stream and an event of the driver's that go with their owner.
#pragma once

#include "kernels/cuda/driver.h"

namespace bam::cuda {

class Stream {
 public:
  Stream() : stream_(make_stream()) {}
  ~Stream() { destroy_stream(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void* get() const { return stream_; }

 private:
  void* stream_;
};

class Event {
 public:
  Event() : event_(make_event()) {}
  ~Event() { destroy_event(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void* get() const { return event_; }

 private:
  void* event_;
};

}  // namespace bam::cuda
