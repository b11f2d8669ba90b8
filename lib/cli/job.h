// This process as one rank of a job, from the start of a tool to its end: rank 0 speaks, and a rank that ends with an
// error, or is killed, ends the others.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "dist/lifeline.h"

namespace bam::cli {

class Job {
 public:
  // Of a tool whose ranks work together or, otherwise, of one that knows nothing of ranks.
  Job(std::string tool, bool together);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Does this rank write to standard error?
  bool speaks() const { return launch_.rank == 0; }

  // Whatever the launcher says: this process works by itself.
  void stay_alone() { launch_ = {}; }
  // All ranks. Throws Error.
  dist::Communicator& join();

  // All ranks, after the last of their work.
  void leave();
  // This rank ends with this error: rank 0 shows it, the others tell rank 0, unless there is nothing to tell.
  void fail(const std::string& message, ExitStatus status);

 private:
  void end(const std::string& line) const;

  std::string tool_;
  dist::Launch launch_;
  std::unique_ptr<dist::Communicator> ranks_;
  std::unique_ptr<dist::Lifeline> lifeline_;
  std::atomic<int> status_{static_cast<int>(ExitStatus::failed)};
};

}  // namespace bam::cli
