#include "cli/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"

namespace bam::cli {
namespace {

// timeout(1) signals its child and then the whole process group, and batch systems do alike: within this time a second
// signal is the first one's echo. Without it, `timeout 1h bam-train` would be killed while it saves.
constexpr double kEcho_s = 1;

std::atomic<bool> stop{false};

std::mutex status_mutex;
std::function<std::string()>& status_line() {
  static std::function<std::string()> line;
  return line;
}

#ifdef SIGINFO
constexpr int kStatusSignals[] = {SIGUSR2, SIGINFO};
#else
constexpr int kStatusSignals[] = {SIGUSR2};
#endif

bool asks_for_status(int signal_number) {
  return std::find(std::begin(kStatusSignals), std::end(kStatusSignals), signal_number) != std::end(kStatusSignals);
}

[[noreturn]] void end_by(int signal_number, const sigset_t& waited_for) {
  std::signal(signal_number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &waited_for, nullptr);
  std::raise(signal_number);
  _exit(128 + signal_number);  // not reached: the default action of all of them is the end
}

void answer(double begin_s) {
  const std::lock_guard lock(status_mutex);
  log::answer(status_line() ? status_line()() : "running for " + human_seconds(now_s() - begin_s));
}

// A thread waits for the signals; there is no handler. A handler would run on the stack of whatever code it interrupts,
// and the matrix products that oneDNN compiles keep data beyond the 128 bytes below the stack pointer that the ABI
// protects: such a handler overwrote it, and the heap with it.
void wait_for_signals(const sigset_t& waited_for) {
  const double begin_s = now_s();
  std::optional<double> first_s;  // when SIGTERM or SIGINT came first
  while (true) {
    int signal_number = 0;
    if (sigwait(&waited_for, &signal_number) != 0) continue;
    if (asks_for_status(signal_number)) {
      answer(begin_s);
      continue;
    }
    stop = true;
    if (signal_number == SIGUSR1) continue;  // a warning, which batch systems send ahead of SIGTERM
    if (!first_s) {
      first_s = now_s();
    } else if (now_s() - *first_s > kEcho_s) {
      end_by(signal_number, waited_for);
    }
  }
}

}  // namespace

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void watch_signals(StopSignals stop_signals) {
  sigset_t waited_for;
  sigemptyset(&waited_for);
  std::vector<int> numbers(std::begin(kStatusSignals), std::end(kStatusSignals));
  if (stop_signals == StopSignals::show) numbers.insert(numbers.end(), {SIGTERM, SIGINT, SIGUSR1});
  for (const int signal_number : numbers) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    // A shell starts background jobs with SIGINT ignored, and it stays so.
    if (before.sa_handler != SIG_IGN) sigaddset(&waited_for, signal_number);
  }
  pthread_sigmask(SIG_BLOCK, &waited_for, nullptr);
  std::thread([waited_for] { wait_for_signals(waited_for); }).detach();
}

bool stop_requested() {
  return stop;
}

void set_status(std::function<std::string()> line) {
  const std::lock_guard lock(status_mutex);
  status_line() = std::move(line);
}

}  // namespace bam::cli
