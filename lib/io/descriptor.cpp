#include "io/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace bam::io {
namespace {

// True when the call is to be made again: interrupted, or a descriptor that someone else made non-blocking.
bool call_again(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd waiting{fd, events, 0};
  return poll(&waiting, 1, -1) >= 0 || errno == EINTR;
}

[[noreturn]] void throw_write_error(const std::string& name) {
  if (errno == EPIPE) throw BrokenPipe();
  throw_errno(name, "cannot write");
}

}  // namespace

void throw_errno(const std::string& name, const std::string& what) {
  const int error = errno;
  throw Error(name + ": " + what + ": " + std::strerror(error));
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

Descriptor open_for_reading(const std::string& path) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) throw_errno(path, "cannot open");
  Descriptor file(fd);
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_errno(path, "cannot open");
  if (S_ISDIR(status.st_mode)) throw Error(path + ": is a directory, expected a file");
  return file;
}

bool is_regular_file(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

Index file_size(int fd, const std::string& name) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_errno(name, "cannot read");
  return status.st_size;
}

Index read_some(int fd, std::span<char> buffer, const std::string& name) {
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got >= 0) return got;
    if (errno == EISDIR) throw Error(name + ": is a directory, expected a file");
    if (!call_again(fd, POLLIN)) throw_errno(name, "cannot read");
  }
}

void write_fully(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (put < 0 && !call_again(fd, POLLOUT)) {
      throw_write_error(name);
    }
  }
}

void read_fully_at(int fd, Index offset, std::span<char> buffer, const std::string& name) {
  while (!buffer.empty()) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), offset);
    if (got == 0)
      throw Error(name + ": ended while it was read, expected " + std::to_string(buffer.size()) + " more bytes");
    if (got < 0) {
      if (!call_again(fd, POLLIN)) throw_errno(name, "cannot read");
      continue;
    }
    buffer = buffer.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

void write_fully_at(int fd, Index offset, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
      offset += put;
    } else if (put < 0 && !call_again(fd, POLLOUT)) {
      throw_write_error(name);
    }
  }
}

std::string descriptor_path(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace bam::io
