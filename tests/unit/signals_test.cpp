// boxes: cli
#include "cli/signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "support/catch.h"

using namespace bam;

namespace {

bool is_blocked(int signal_number) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal_number) == 1;
}

bool becomes_true(bool (*condition)()) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

}  // namespace

// Generated kernels keep data below the stack pointer where a signal handler would overwrite it.
TEST_CASE("signals: a stop signal interrupts no computing thread") {
  cli::watch_signals(cli::StopSignals::show);
  for (const int signal_number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
    CAPTURE(signal_number);
    CHECK(is_blocked(signal_number));
    bool blocked_in_worker = false;
    std::thread([&] { blocked_in_worker = is_blocked(signal_number); }).join();
    CHECK(blocked_in_worker);
  }
  CHECK_FALSE(cli::stop_requested());
  static std::atomic<bool> asked{false};
  cli::set_status([] {
    asked = true;
    return std::string("half of it");
  });
  kill(getpid(), SIGUSR2);
  CHECK(becomes_true([] { return asked.load(); }));
  CHECK_FALSE(cli::stop_requested());
  cli::set_status({});
  kill(getpid(), SIGUSR1);
  CHECK(becomes_true(cli::stop_requested));
}

TEST_CASE("signals: a second one ends the process, a second or more after the first") {
  const pid_t child = fork();
  if (child == 0) {
    cli::watch_signals(cli::StopSignals::show);
    for (int i = 0; i < 2; ++i) {
      kill(getpid(), SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(1050));
    }
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}
