// Work that several threads do and hand back in the order in which it came in.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bam {

// For one owner, who submits and takes. What was not taken is dropped with the object.
template <class Work, class Result>
class OrderedWorkers {
 public:
  using Worker = std::function<Result(Work&&)>;

  // `make_worker` is called once for each thread, in that thread, so that a worker may keep memory of its own; it must
  // not throw. One thread is the caller's: submit() itself does the work.
  OrderedWorkers(int threads, const std::function<Worker()>& make_worker)
      : OrderedWorkers(threads > 1 ? 2 * static_cast<std::size_t>(threads) : 1) {
    if (threads <= 1) caller_ = make_worker();
    for (int i = 0; threads > 1 && i < threads; ++i)
      threads_.emplace_back([this, make_worker] { work(make_worker()); });
  }

  ~OrderedWorkers() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    submitted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  void submit(Work work) {
    Job job{std::move(work), {}};
    results_.push_back(job.result.get_future());
    if (caller_) return carry_out(caller_, job);
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(job));
    }
    submitted_.notify_one();
  }

  // True when so much is under way that the owner should take a result before it submits more.
  bool is_full() const { return results_.size() >= limit_; }
  bool is_empty() const { return results_.empty(); }

  // The oldest result, waiting for it. Throws what its worker threw. Not when empty.
  Result take() {
    std::future<Result> result = std::move(results_.front());
    results_.pop_front();
    return result.get();
  }

 private:
  // By itself, so that threads that were started end where another cannot be.
  explicit OrderedWorkers(std::size_t limit) : limit_(limit) {}

  struct Job {
    Work work;
    std::promise<Result> result;
  };

  static void carry_out(const Worker& worker, Job& job) {
    try {
      job.result.set_value(worker(std::move(job.work)));
    } catch (...) {
      job.result.set_exception(std::current_exception());
    }
  }

  void work(const Worker& worker) {
    for (;;) {
      std::unique_lock lock(mutex_);
      submitted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      Job job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      carry_out(worker, job);
    }
  }

  std::size_t limit_;
  Worker caller_;                            // only with one thread
  std::deque<std::future<Result>> results_;  // in order
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::deque<Job> waiting_;  // not yet begun
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace bam
