#include "cli/signals.h"

#include <csignal>
#include <ctime>

#include <atomic>

namespace bam::cli {
namespace {

// timeout(1) signals its child and then the whole process group, and batch systems do alike: within this time a second
// signal is the first one's echo. Without it, `timeout 1h bam-train` would be killed while it saves.
constexpr long kEcho_s = 1;

std::atomic<bool> stop{false};
std::atomic<long> first_s{0};  // when SIGTERM or SIGINT came first; 0 = not yet
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<long>::is_always_lock_free);

extern "C" void on_stop_signal(int signal_number) {
  stop = true;
  if (signal_number == SIGUSR1) return;  // a warning, which batch systems send ahead of SIGTERM
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  long expected = 0;
  if (first_s.compare_exchange_strong(expected, now.tv_sec + 1)) return;
  if (now.tv_sec + 1 - expected <= kEcho_s) return;
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

}  // namespace

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal_number : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    // A shell starts background jobs with SIGINT ignored, and it stays so.
    if (before.sa_handler != SIG_IGN) sigaction(signal_number, &action, nullptr);
  }
}

bool stop_requested() {
  return stop;
}

}  // namespace bam::cli
