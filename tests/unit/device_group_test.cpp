// boxes: kernels base
// Groups of devices: each rank is a process of its own, with a device of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "support/catch.h"
#include "support/closeness.h"
#include "support/device_under_test.h"

using namespace bam;
using namespace bam::test;

namespace {

bool has_devices() {
  return device_under_test().starts_with("cuda");
}

// BAM_TEST_RANKS, of a machine with so many devices; else as many as an emulation has.
std::vector<int> sizes_of_groups() {
  const char* const ranks = std::getenv("BAM_TEST_RANKS");
  return ranks != nullptr ? std::vector{std::atoi(ranks)} : std::vector{2, 4};
}

// In a rank, where the macros of the test library are not for use.
void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

struct Rank {
  Backend& backend;
  DeviceGroup& group;
  int rank, size;
};

// The id goes from rank 0 to the others through pipes: nothing of a device may be touched before the fork.
using Pipe = std::array<int, 2>;
std::string hand_round(const std::vector<Pipe>& pipes, int rank, DeviceGroup& group) {
  std::string id;
  if (rank == 0) {
    id = group.make_id();
    for (std::size_t to = 1; to < pipes.size(); ++to) {
      require(write(pipes[to][1], id.data(), id.size()) == std::ssize(id), "an id is written");
    }
  } else {
    std::array<char, 512> bytes{};
    const ssize_t count = read(pipes[static_cast<std::size_t>(rank)][0], bytes.data(), bytes.size());
    require(count > 0, "an id is read");
    id.assign(bytes.data(), static_cast<std::size_t>(count));
  }
  return id;
}

int do_rank(const std::vector<Pipe>& pipes, int rank, const std::function<void(const Rank&)>& work) {
  const int size = static_cast<int>(pipes.size());
  try {
    const auto backend = make_backend(device_under_test(), 1, rank);
    const auto group = backend->make_group();
    group->join(hand_round(pipes, rank, *group), rank, size);
    work({*backend, *group, rank, size});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d of %d: %s\n", rank, size, error.what());
    return 1;
  }
}

// Runs `work` as every rank. On an emulation the kernels are late, or what is beside them (BAM_HOST_LATE), or neither.
void as_processes(int size, const std::function<void(const Rank&)>& work) {
  for (const char* const late : {"", "0", "1"}) {
    INFO(size << " ranks, BAM_HOST_LATE=" << late);
    std::vector<Pipe> pipes(static_cast<std::size_t>(size));
    for (Pipe& ends : pipes) REQUIRE(pipe(ends.data()) == 0);
    std::vector<pid_t> processes;
    for (int rank = 0; rank < size; ++rank) {
      const pid_t process = fork();
      REQUIRE(process >= 0);
      if (process == 0) {
        setenv("BAM_HOST_LATE", late, 1);
        _exit(do_rank(pipes, rank, work));
      }
      processes.push_back(process);
    }
    for (const pid_t process : processes) {
      int status = 0;
      CHECK(waitpid(process, &status, 0) == process);
      CHECK(status == 0);
    }
    for (const Pipe& ends : pipes) {
      for (const int end : ends) close(end);
    }
  }
}

// Some values that differ between ranks, exact in f32 with all their sums.
std::vector<double> values_of(int rank, Index count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 7 + 3) % 1001) + 2000 * rank;
  return values;
}

double sum_of(int size, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += values_of(rank, static_cast<Index>(i) + 1)[i];
  return sum;
}

}  // namespace

TEST_CASE("device_group: a backend whose memory is the host's has none") {
  if (has_devices()) return;
  for (const char* const device : {"cpu", "ref"}) CHECK(make_backend(device, 1)->make_group() == nullptr);
}

// What a rank gives was made by the op before, and what it takes is read by the op behind.
TEST_CASE("device_group: sums and broadcasts come behind the ops before them and before those behind") {
  if (!has_devices()) return;
  const Index count = 1000;
  for (const int size : sizes_of_groups()) {
    as_processes(size, [count](const Rank& own) {
      Backend& backend = own.backend;
      const Tensor given(backend, DType::f32, {count}), x(backend, DType::f32, {count}),
          y(backend, DType::f32, {count});
      to_backend(backend, given, values_of(own.rank, count));
      for (int round = 0; round < 3; ++round) {
        const int from = round % own.size;
        backend.fill_zero(x);
        backend.fill_zero(y);
        backend.add({.x = x, .y = given});
        own.group.start_sum(x);
        backend.add({.x = y, .y = given});  // beside it
        own.group.start_broadcast(y, from);
        own.group.finish();
        backend.add({.x = y, .y = x});
        const std::vector<double> found = to_host(backend, y), theirs = values_of(from, count);
        for (std::size_t i = 0; i < found.size(); ++i) {
          require(found[i] == sum_of(own.size, i) + theirs[i], "number " + std::to_string(i) + " of the sums");
        }
      }
      own.group.finish();  // of nothing
    });
  }
}

TEST_CASE("device_group: any size, f32 and f64") {
  if (!has_devices()) return;
  as_processes(sizes_of_groups().front(), [](const Rank& own) {
    for (const Index count : {1, 3, 300001}) {
      for (const DType dtype : {DType::f32, DType::f64}) {
        const Tensor x(own.backend, dtype, {count}), y(own.backend, dtype, {count});
        to_backend(own.backend, x, values_of(own.rank, count));
        to_backend(own.backend, y, values_of(own.rank, count));
        own.group.start_sum(x);
        own.group.start_broadcast(y, own.size - 1);
        own.group.finish();
        const std::vector<double> sums = to_host(own.backend, x), last = to_host(own.backend, y);
        const auto end = sums.size() - 1;
        require(sums[0] == sum_of(own.size, 0) && sums[end] == sum_of(own.size, end), "the sums");
        require(last == values_of(own.size - 1, count), "what the last rank has");
      }
    }
  });
}

TEST_CASE("device_group: another device for each place") {
  if (!has_devices()) return;
  as_processes(sizes_of_groups().front(), [](const Rank& own) {
    require(own.group.device() != make_backend("cuda", 1, own.rank + 1)->make_group()->device(), "another device");
    require(own.group.device() == make_backend("cuda:" + std::to_string(own.rank), 1)->make_group()->device(),
            "the device of that number");
  });
}
