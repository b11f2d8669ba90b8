// Streams and events on the host. What a stream is given is done at once or, where the stream is late, when it has to
// be: when the host waits for it, or another stream comes to an event of it. BAM_HOST_LATE=N makes the N-th stream of
// the process late, from 0 on: N = 0, of the kernels, shows who does not wait for them, and N = 1, beside them, whom
// they do not wait for. The null stream does everything at once.
#pragma once

#include <functional>
#include <vector>

namespace bam::cuda::on_host {

// What a handle points to. Libraries that are not linked with this one give work to it too, by this function.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void submit(std::function<void()> work) = 0;
};

void* make_stream();
void destroy_stream(void* stream) noexcept;
void synchronize(void* stream);
void finish_all_streams() noexcept;

void* make_event();
void destroy_event(void* event) noexcept;
void record_event(void* event, void* stream);
void wait_for_event(void* event);
bool has_passed(void* event);
void hold_stream(void* stream, void* event);

// Gives the work to the stream or, between the two others, keeps it: what is kept is done whenever it is played, with
// what its arguments were then.
void submit(void* stream, std::function<void()> work);
void begin_recording();
std::vector<std::function<void()>> end_recording();
bool is_recording();

}  // namespace bam::cuda::on_host
