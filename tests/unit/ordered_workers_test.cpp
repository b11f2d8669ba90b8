// boxes: base
#include "base/ordered_workers.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "support/catch.h"

using bam::OrderedWorkers;

namespace {

using Squares = OrderedWorkers<int, int>;

int square(int n) {
  if (n == 13) throw std::runtime_error("unlucky");
  // Later ones are done first.
  std::this_thread::sleep_for(std::chrono::microseconds(200 * (8 - n % 8)));
  return n * n;
}

}  // namespace

TEST_CASE("ordered workers: results come in the order of the work, by any number of threads") {
  for (const int threads : {1, 2, 5}) {
    CAPTURE(threads);
    Squares workers(threads, [] { return square; });
    int taken = 0;
    const auto take = [&] {
      CHECK(workers.take() == taken * taken);
      if (++taken == 13) ++taken;
    };
    for (int n = 0; n < 100; ++n) {
      if (n == 13) continue;
      while (workers.is_full()) take();
      workers.submit(n);
    }
    while (!workers.is_empty()) take();
    CHECK(taken == 100);
  }
}

TEST_CASE("ordered workers: what a worker throws comes out where its result would") {
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    Squares workers(threads, [] { return square; });
    workers.submit(12);
    if (threads == 1) CHECK(workers.take() == 144);
    workers.submit(13);
    if (threads > 1) CHECK(workers.take() == 144);
    CHECK_THROWS_AS(workers.take(), std::runtime_error);
    workers.submit(14);
    CHECK(workers.take() == 196);
  }
}

TEST_CASE("ordered workers: one thread is the caller's, each of several has a worker of its own") {
  std::atomic<int> made{0};
  const auto make = [&made] {
    ++made;
    return [](int) { return std::this_thread::get_id(); };
  };
  using Who = OrderedWorkers<int, std::thread::id>;
  {
    Who alone(1, make);
    alone.submit(0);
    CHECK(alone.take() == std::this_thread::get_id());
    CHECK(made == 1);
  }
  Who three(3, make);
  std::set<std::thread::id> seen;
  for (int n = 0; n < 200; ++n) {
    while (three.is_full()) seen.insert(three.take());
    three.submit(n);
  }
  while (!three.is_empty()) seen.insert(three.take());
  CHECK(seen.count(std::this_thread::get_id()) == 0);
  CHECK(seen.size() <= 3);
}

TEST_CASE("ordered workers: threads that were started end where another cannot be") {
  // Each thread takes a copy of it with it.
  struct Maker {
    explicit Maker(int most) : copies_left(std::make_shared<int>(most)) {}
    Maker(const Maker& other) : copies_left(other.copies_left) {
      if ((*copies_left)-- == 0) throw std::runtime_error("no more");
    }
    Squares::Worker operator()() const { return square; }
    std::shared_ptr<int> copies_left;
  };
  const Maker maker(100);
  const std::function<Squares::Worker()> make = maker;
  *maker.copies_left = 2;
  CHECK_THROWS_AS(Squares(5, make), std::runtime_error);
}
