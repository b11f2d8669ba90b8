#include "train/read_ahead.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace bam::train {
namespace {

constexpr std::size_t kAhead = 2;
constexpr std::chrono::milliseconds kPatience{50};  // between looks at whether to give up

}  // namespace

// What the thread works on; the last of the two to leave takes it down.
struct ReadAhead::Shared {
  std::shared_ptr<WindowSource> source;
  Index windows = 0;
  Index batches = 0;
  Targets targets;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<ReadBatch> ready;
  std::exception_ptr error;
  bool ended = false;     // the thread takes no more
  bool unwanted = false;  // nobody waits for more

  ReadBatch read() {
    std::vector<Token> ids(static_cast<std::size_t>(windows * (source->context() + 1)));
    const Index taken = source->next(ids);
    const auto used = static_cast<std::size_t>(taken * (source->context() + 1));
    return {make_batch(std::span(ids).first(used), source->context(), targets), source->consumed(),
            source->fingerprint(), source->digests()};
  }

  void run() {
    try {
      bool goes_on = true;
      for (Index i = 0; i < batches && goes_on; ++i) {
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return ready.size() < kAhead || unwanted; });
          if (unwanted) break;
        }
        ReadBatch made = read();
        goes_on = made.batch.windows == windows;
        const std::lock_guard lock(mutex);
        ready.push_back(std::move(made));
        changed.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
};

ReadAhead::ReadAhead(std::shared_ptr<WindowSource> source, Index windows, Index batches, const Targets& targets)
    : shared_(std::make_shared<Shared>()) {
  shared_->source = std::move(source);
  shared_->windows = windows;
  shared_->batches = batches;
  shared_->targets = targets;
  std::thread([shared = shared_] { shared->run(); }).detach();
}

ReadAhead::~ReadAhead() {
  std::unique_lock lock(shared_->mutex);
  shared_->unwanted = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, kPatience, [&] { return shared_->ended; });
}

std::optional<ReadBatch> ReadAhead::next(const std::function<bool()>& give_up) {
  const double begin = now_s();
  std::unique_lock lock(shared_->mutex);
  while (!shared_->changed.wait_for(lock, kPatience, [&] { return !shared_->ready.empty() || shared_->ended; })) {
    if (give_up()) return std::nullopt;
  }
  waited_s_ += now_s() - begin;
  if (shared_->ready.empty()) {
    if (shared_->error) std::rethrow_exception(shared_->error);
    return ReadBatch{};
  }
  ReadBatch batch = std::move(shared_->ready.front());
  shared_->ready.pop_front();
  shared_->changed.notify_all();
  return batch;
}

}  // namespace bam::train
