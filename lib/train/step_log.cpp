#include "train/step_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/log.h"
#include "io/json.h"

namespace bam::train {
namespace {

constexpr std::string_view kStepKey = "{\"step\":";

// The step of a whole line of this log, or -1.
Index step_of(std::string_view line) {
  Index step = -1;
  if (line.starts_with(kStepKey)) std::from_chars(line.data() + kStepKey.size(), line.data() + line.size(), step);
  return step;
}

// Bytes of the lines at the front that belong to steps up to `last`.
std::uintmax_t kept_bytes(const std::string& path, Index last) {
  std::ifstream file(path, std::ios::binary);
  std::uintmax_t bytes = 0;
  for (std::string line; last > 0 && std::getline(file, line) && !file.eof();) {
    const Index step = step_of(line);
    if (step < 1 || step > last) break;
    bytes += line.size() + 1;
  }
  return bytes;
}

}  // namespace

StepLog::StepLog(const std::string& path, Index kept_steps) : path_(path == "-" ? "standard output" : path) {
  const auto fail = [&] { throw Error(path_ + ": cannot be written: " + std::strerror(errno)); };
  const bool is_standard_output = path == "-";
  fd_ = is_standard_output ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                           : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
  if (is_standard_output || !std::filesystem::is_regular_file(path)) return;
  // Where a file system has no locks it is the user's to see to.
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd_);
    throw Error(path_ + ": another process is writing to it, expected a log of its own");
  }
  if (ftruncate(fd_, static_cast<off_t>(kept_bytes(path, kept_steps))) != 0) {
    close(fd_);
    fail();
  }
}

StepLog::~StepLog() {
  if (fd_ >= 0) close(fd_);
}

void StepLog::write(const StepLine& line) {
  if (fd_ < 0) return;
  io::JsonWriter json;
  json.begin_object().field("step", line.step).field("loss", line.loss).field("lr", line.learning_rate);
  json.field("grad_norm", line.gradient_norm).field("tokens", line.tokens);
  if (line.tokens_per_s) json.field("tokens_per_s", *line.tokens_per_s);
  if (line.val_loss) json.field("val_loss", *line.val_loss);
  if (line.seconds) json.field("seconds", *line.seconds);
  json.field("seed", std::to_string(line.seed)).field("device", line.device).field("version", line.version);
  json.end_object();
  const std::string text = json.text() + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      log::warning(path_ + ": the reader of the log went away, training goes on without it");
      close(fd_);
      fd_ = -1;
      return;
    } else if (errno != EINTR) {
      throw Error(path_ + ": cannot be written: " + std::strerror(errno));
    }
  }
}

}  // namespace bam::train
