// A small harness: times calls and prints what was reached beside the ceiling of the same run, tab-separated.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kernels/registry.h"

namespace bam::bench {

// The median of the calls that fit into budget_s, five at least, after two that are not counted.
template <typename Call>
double median_seconds(Call&& call, double budget_s = 0.3) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  call();
  call();
  std::vector<double> seconds;
  const Clock::time_point begin = Clock::now();
  while (seconds.size() < 5 || (seconds_since(begin) < budget_s && seconds.size() < 5000)) {
    const Clock::time_point start = Clock::now();
    call();
    seconds.push_back(seconds_since(start));
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

// BAM_DEVICE and BAM_THREADS as for the tools; the first line of output names the machine.
inline std::unique_ptr<Backend> backend_from_environment() {
  const char* device = std::getenv("BAM_DEVICE");
  const char* threads = std::getenv("BAM_THREADS");
  auto backend = make_backend(device != nullptr ? device : "cpu", threads != nullptr ? std::atoi(threads) : 0);
  std::fprintf(stderr, "%s: %s\n", std::string(backend->name()).c_str(), backend->describe().c_str());
  return backend;
}

// A tensor of numbers uniform in [-1/2, 1/2).
inline Tensor random_tensor(Backend& backend, DType dtype, Shape shape, std::uint64_t seed) {
  Tensor tensor(backend, dtype, shape);
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  Rng rng(seed);
  for (float& value : values) value = static_cast<float>(rng.uniform() - 0.5);
  backend.copy_in(tensor, ConstTensorView{values.data(), DType::f32, shape});
  return tensor;
}

// Of one thread the time it ran, so that a busy machine can still measure; of several, the time that went by.
inline double now_s(const Backend& backend) {
  std::timespec time{};
  clock_gettime(backend.threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Call>
double best_seconds(Backend& backend, Call&& call) {
  double best = std::numeric_limits<double>::infinity();
  double total = 0;
  for (int i = 0; i < 5 || (i < 1000 && total < 0.3); ++i) {
    const double start = now_s(backend);
    call();
    backend.synchronize();
    const double seconds = now_s(backend) - start;
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

// case, seconds, rate, its unit, the ceiling's rate, share of the ceiling.
class Table {
 public:
  Table() { std::printf("case\tseconds\trate\tunit\tceiling\tshare\n"); }
  void row(const std::string& name, double seconds, double work, const char* unit, double ceiling) const {
    const double rate = work / seconds * 1e-9;
    std::printf("%s\t%.3g\t%.4g\t%s\t%.4g\t%.3f\n", name.c_str(), seconds, rate, unit, ceiling, rate / ceiling);
    std::fflush(stdout);
  }
};

// What everything is held against: a product of 2048 x 2048 x 2048, in GFLOP/s.
inline double ceiling_rate(const Table& table, Backend& backend, DType dtype) {
  constexpr Index kSize = 2048;
  const Tensor a = random_tensor(backend, dtype, {kSize, kSize}, 1);
  const Tensor b = random_tensor(backend, dtype, {kSize, kSize}, 2);
  const Tensor c = random_tensor(backend, DType::f32, {kSize, kSize}, 3);
  const double flops = 2.0 * static_cast<double>(kSize * kSize * kSize);
  const double seconds = best_seconds(backend, [&] { backend.matmul({.a = a, .b = b, .c = c}); });
  const double rate = flops / seconds * 1e-9;
  table.row("ceiling " + std::string(name_of(dtype)), seconds, flops, "GFLOP/s", rate);
  return rate;
}

}  // namespace bam::bench
