// How far a long job is. On a terminal one line on standard error, drawn anew at most five times a second and wiped at
// the end; elsewhere a plain line now and then (first after 10 s, then ever more rarely); with -q nothing. The same
// line answers SIGUSR2.
//
//   Progress progress({.total = steps, .unit = "steps", .rate_unit = "tokens"});
//   progress.update(step, tokens, "loss 3.21");
//
//   120/1000 steps (12%)  45.6k tokens/s  3m05s left  loss 3.21
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/types.h"

namespace bam::cli {

struct ProgressInfo {
  Index total = 0;  // of `unit`; 0 = not known
  Index start = 0;  // done before this run: not part of the rate
  std::string unit = "tokens";
  std::string rate_unit{};  // what the rate counts; empty = the same as `unit`
};

class Progress {
 public:
  // Where lines go and what time it is, so that tests need neither a terminal nor patience.
  struct Surroundings {
    enum class Kind { silent, plain, terminal };
    Kind kind = Kind::silent;
    int columns = 80;
    std::function<void(std::string_view)> write;
    std::function<double()> now_s;
  };

  explicit Progress(ProgressInfo info);  // on standard error
  Progress(ProgressInfo info, Surroundings surroundings);
  ~Progress();  // wipes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` units of work since the job began, `start` included; `rate_done` rate units since this run began.
  void update(Index done, Index rate_done, std::string_view note = {});
  void update(Index done, std::string_view note = {}) { update(done, done - info_.start, note); }

  // Wipes the line until the next update: before a row is written to a terminal. Log lines do so by themselves.
  void clear();

  // Since construction.
  double elapsed_s() const { return surroundings_.now_s() - begin_s_; }

 private:
  std::string line(Index done, Index rate_done, std::string_view note) const;

  struct State {
    Index done = 0;
    Index rate_done = 0;
    std::string note;
  };

  ProgressInfo info_;
  Surroundings surroundings_;
  std::mutex state_mutex_;  // a signal asks for the line from another thread
  State state_;
  double begin_s_ = 0;
  double next_s_ = 0;
  std::atomic<bool> drawn_{false};  // a log line of another thread wipes
};

}  // namespace bam::cli
