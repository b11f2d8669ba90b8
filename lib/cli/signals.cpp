#include "cli/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

namespace bam::cli {
namespace {

// timeout(1) signals its child and then the whole process group, and batch systems do alike: within this time a second
// signal is the first one's echo. Without it, `timeout 1h bam-train` would be killed while it saves.
constexpr long kEcho_s = 1;

std::atomic<bool> stop{false};

long now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

[[noreturn]] void end_by(int signal_number, const sigset_t& waited_for) {
  std::signal(signal_number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &waited_for, nullptr);
  std::raise(signal_number);
  _exit(128 + signal_number);  // not reached: the default action of all of them is the end
}

// A thread waits for the signals; there is no handler. A handler would run on the stack of whatever code it interrupts,
// and the matrix products that oneDNN compiles keep data beyond the 128 bytes below the stack pointer that the ABI
// protects: such a handler overwrote it, and the heap with it.
void wait_for_signals(const sigset_t& waited_for) {
  long first_s = -1;  // when SIGTERM or SIGINT came first
  while (true) {
    int signal_number = 0;
    if (sigwait(&waited_for, &signal_number) != 0) continue;
    stop = true;
    if (signal_number == SIGUSR1) continue;  // a warning, which batch systems send ahead of SIGTERM
    const long now = now_s();
    if (first_s < 0) {
      first_s = now;
    } else if (now - first_s > kEcho_s) {
      end_by(signal_number, waited_for);
    }
  }
}

}  // namespace

void ignore_write_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void catch_stop_signals() {
  sigset_t waited_for;
  sigemptyset(&waited_for);
  for (const int signal_number : {SIGTERM, SIGINT, SIGUSR1}) {
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

}  // namespace bam::cli
