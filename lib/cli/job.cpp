#include "cli/job.h"

#include <unistd.h>

#include <cstdio>

#include "base/one_line.h"

namespace bam::cli {
namespace {

void print_error(const std::string& tool, const std::string& message) {
  const std::string line = one_line(tool + ": " + message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

Job::Job(std::string tool, bool together)
    : tool_(std::move(tool)), launch_(together ? dist::launch_of_environment() : dist::Launch{}) {}

// After an error the others may be anywhere: nothing is closed in order, which would wait for them.
Job::~Job() {
  static_cast<void>(lifeline_.release());
  static_cast<void>(ranks_.release());
}

dist::Communicator& Job::join() {
  if (launch_.size == 1) return dist::alone();
  ranks_ = dist::connect(launch_);
  lifeline_ = std::make_unique<dist::Lifeline>(*ranks_, [this](const std::string& line) { end(line); });
  return *ranks_;
}

void Job::leave() {
  if (lifeline_) lifeline_->leave();
  lifeline_.reset();
  ranks_.reset();
}

void Job::fail(const std::string& message, ExitStatus status) {
  status_ = static_cast<int>(status);
  if (speaks() && !message.empty()) print_error(tool_, message);
  if (lifeline_) lifeline_->fail(message);
}

void Job::end(const std::string& line) const {
  if (!line.empty()) print_error(tool_, line);
  _exit(status_);
}

}  // namespace bam::cli
