#include "cuda_on_host/streams.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <exception>
#include <string>
#include <utility>

namespace bam::cuda::on_host {
namespace {

class Queue final : public Stream {
 public:
  explicit Queue(bool late) : late_(late) {}

  void submit(std::function<void()> work) override {
    waiting_.push_back(std::move(work));
    ++given_;
    if (!late_) advance(given_);
  }

  // Does its work in order, up to that piece.
  void advance(long until) {
    while (done_ < until) {
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      const std::exception_ptr problem = outcome_of(work);
      ++done_;
      if (problem) std::rethrow_exception(problem);
    }
  }

  long given() const { return given_; }
  long done() const { return done_; }

 private:
  static std::exception_ptr outcome_of(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  bool late_;
  std::deque<std::function<void()>> waiting_;
  long given_ = 0, done_ = 0;
};

struct Event {
  Queue* stream = nullptr;  // null: never recorded, or on the null stream
  long place = 0;
};

// Never destroyed: a backend may be the last to go.
std::vector<Queue*>& queues() {
  static auto* const all = new std::vector<Queue*>;
  return *all;
}

int streams_made = 0;
bool recording = false;
std::vector<std::function<void()>> recorded;

Queue* queue_of(void* stream) {
  return static_cast<Queue*>(static_cast<Stream*>(stream));
}

}  // namespace

void* make_stream() {
  const char* const late = std::getenv("BAM_HOST_LATE");
  auto* const made = new Queue(late != nullptr && late == std::to_string(streams_made));
  ++streams_made;
  queues().push_back(made);
  return static_cast<Stream*>(made);
}

void destroy_stream(void* stream) noexcept {
  finish_all_streams();
  std::erase(queues(), queue_of(stream));
  delete queue_of(stream);
}

void synchronize(void* stream) {
  if (stream != nullptr) queue_of(stream)->advance(queue_of(stream)->given());
}

void finish_all_streams() noexcept {
  for (Queue* queue : queues()) queue->advance(queue->given());
}

void* make_event() {
  return new Event;
}

void destroy_event(void* event) noexcept {
  delete static_cast<Event*>(event);
}

void record_event(void* event, void* stream) {
  if (stream == nullptr) return;
  *static_cast<Event*>(event) = {queue_of(stream), queue_of(stream)->given()};
}

void wait_for_event(void* event) {
  const auto [stream, place] = *static_cast<const Event*>(event);
  if (stream != nullptr) stream->advance(place);
}

bool has_passed(void* event) {
  const auto [stream, place] = *static_cast<const Event*>(event);
  return stream == nullptr || stream->done() >= place;
}

// As the event is now: it may be recorded anew.
void hold_stream(void* stream, void* event) {
  submit(stream, [recorded_at = *static_cast<const Event*>(event)]() mutable { wait_for_event(&recorded_at); });
}

void submit(void* stream, std::function<void()> work) {
  if (recording) {
    recorded.push_back(std::move(work));
  } else if (stream != nullptr) {
    queue_of(stream)->submit(std::move(work));
  } else {
    work();
  }
}

void begin_recording() {
  recorded.clear();
  recording = true;
}

std::vector<std::function<void()>> end_recording() {
  recording = false;
  return std::exchange(recorded, {});
}

bool is_recording() {
  return recording;
}

}  // namespace bam::cuda::on_host
