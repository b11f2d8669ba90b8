// Ranks that are threads of this process, for tests. A sum takes what is there when it is started: whoever starts it
// before his numbers are final gets wrong ones.
#pragma once

#include <barrier>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "dist/communicator.h"

namespace bam::test {

struct ThreadWorld {
  explicit ThreadWorld(int size) : meet(size), numbers(static_cast<std::size_t>(size)), staged(numbers.size()) {}

  std::barrier<> meet;
  std::vector<std::vector<double>> numbers;
  std::vector<std::vector<std::byte>> staged;
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> mail;
};

class ThreadRank : public dist::Communicator {
 public:
  ThreadRank(ThreadWorld& world, int rank)
      : Communicator(rank, static_cast<int>(world.numbers.size())), world_(world) {}

  int on_this_machine() const override { return size(); }
  int place_on_machine() const override { return rank(); }

  void send(std::span<const std::byte> bytes, int to) override {
    const std::lock_guard lock(world_.mutex);
    world_.mail[{rank(), to}].emplace_back(bytes.begin(), bytes.end());
    world_.arrived.notify_all();
  }

  void receive(std::span<std::byte> bytes, int from) override {
    std::unique_lock lock(world_.mutex);
    auto& letters = world_.mail[{from, rank()}];
    world_.arrived.wait(lock, [&] { return !letters.empty(); });
    if (letters.front().size() != bytes.size()) throw std::logic_error("a letter of another size");
    std::ranges::copy(letters.front(), bytes.begin());
    letters.pop_front();
  }

  std::vector<double> gather_all(std::span<const double> own) override {
    world_.numbers[place()].assign(own.begin(), own.end());
    world_.meet.arrive_and_wait();
    std::vector<double> all;
    for (const auto& numbers : world_.numbers) all.insert(all.end(), numbers.begin(), numbers.end());
    world_.meet.arrive_and_wait();
    if (all.size() != own.size() * world_.numbers.size()) throw std::logic_error("ranks gather different numbers");
    return all;
  }

 private:
  void do_progress() override {}
  void do_finish() override {
    for (const auto& work : started_) work();
    started_.clear();
  }

  std::size_t place() const { return static_cast<std::size_t>(rank()); }

  // All ranks' staged bytes, in order, go to `take`.
  void exchange(const std::vector<std::byte>& own,
                const std::function<void(int, const std::vector<std::byte>&)>& take) {
    world_.staged[place()] = own;
    world_.meet.arrive_and_wait();
    for (int from = 0; from < size(); ++from) {
      const auto& theirs = world_.staged[static_cast<std::size_t>(from)];
      if (theirs.size() != own.size()) throw std::logic_error("ranks begin different things");
      take(from, theirs);
    }
    world_.meet.arrive_and_wait();
  }

  static std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

  template <typename Real>
  void sum(std::span<Real> x) {
    started_.push_back([this, x, now = copy_of(std::as_bytes(x))] {
      std::vector<Real> total(x.size());
      std::vector<Real> theirs(x.size());
      exchange(now, [&](int, const std::vector<std::byte>& bytes) {
        std::memcpy(theirs.data(), bytes.data(), bytes.size());
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += theirs[i];
      });
      std::ranges::copy(total, x.begin());
    });
  }
  void do_start_sum(std::span<float> x) override { sum(x); }
  void do_start_sum(std::span<double> x) override { sum(x); }

  void do_start_broadcast(std::span<std::byte> x, int from) override {
    started_.push_back([this, x, from, now = copy_of(x)] {
      std::vector<std::byte> theirs;
      exchange(now, [&](int rank, const std::vector<std::byte>& bytes) {
        if (rank == from) theirs = bytes;
      });
      std::ranges::copy(theirs, x.begin());
    });
  }

  ThreadWorld& world_;
  std::vector<std::function<void()>> started_;
};

// Runs `work` on every rank, each with its own communicator. An exception of any rank is thrown here.
inline void run_ranks(int size, const std::function<void(dist::Communicator&)>& work) {
  ThreadWorld world(size);
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ThreadRank communicator(world, rank);
        work(communicator);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
        world.meet.arrive_and_drop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace bam::test
