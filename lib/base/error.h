// Errors that reach the user: one line, and the exit status that goes with it.
#pragma once

#include <stdexcept>
#include <string>

namespace bam {

// Exit statuses of every tool (bam(7), EXIT STATUS).
enum class ExitStatus : int { ok = 0, failed = 1, usage = 2, interrupted = 75 };

// Something the user can mend: a bad file, a full disk, a device that is not there.
// The text is one line, "FILE: what is wrong, what was expected", without the tool's name, which run_tool puts before
// it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what_happened, ExitStatus exit_status = ExitStatus::failed)
      : std::runtime_error(what_happened), status(exit_status) {}
  ExitStatus status;
};

// A command line that cannot be meant.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what_happened) : Error(what_happened, ExitStatus::usage) {}
};

// The reader of our standard output went away. A filter ends quietly.
class BrokenPipe : public Error {
 public:
  BrokenPipe() : Error("the reader of the output went away", static_cast<ExitStatus>(141)) {}
};

}  // namespace bam
