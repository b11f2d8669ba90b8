#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include "base/error.h"
#include "io/descriptor.h"
#include "io/second_name.h"

namespace bam::io {
namespace {

namespace fs = std::filesystem;

// The number of a path that means a descriptor of this process. Such a path is not opened again: that would start at
// offset 0 of a file the shell opened for appending.
std::optional<int> named_descriptor(const std::string& path) {
  if (path.empty() || path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int fd = -1;
    const char* last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + prefix.size(), last, fd);
    if (error == std::errc() && end == last && fd >= 0) return fd;
  }
  return std::nullopt;
}

std::string output_name(const std::string& path) {
  return path.empty() || path == "-" ? "standard output" : path;
}

}  // namespace

std::string temporary_name() {
  std::random_device device;
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::string name = ".bam-";
  for (int i = 0; i < 16; ++i) name += kDigits[device() % kDigits.size()];
  return name + ".tmp";
}

namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The path of the file that a symbolic link means, there or not yet, link by link. A link is written through, as by
// open(2), and stays.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // of Linux
  fs::path file = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(file, error)); ++links) {
    const fs::path target = fs::read_symlink(file, error);
    if (!error && links == kMostLinks) error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
    if (error) throw Error(path + ": cannot write: " + error.message());
    file = file.parent_path() / target;
  }
  return file.string();
}

// A file without a name, or -1 where the file system or the missing /proc does not allow it.
int open_unnamed(const std::string& folder) {
#ifdef O_TMPFILE
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd >= 0 && ::access(descriptor_path(fd).c_str(), F_OK) == 0) return fd;
  if (fd >= 0) ::close(fd);
#endif
  return -1;
}

int open_named(const std::string& folder, std::string& path) {
  int fd = -1;
  do {
    path = folder + "/" + temporary_name();
    fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  } while (fd < 0 && (errno == EEXIST || errno == EINTR));
  return fd;
}

// Network file systems report a full disk only here.
void close_checked(int& fd, const std::string& name) {
  if (::close(std::exchange(fd, -1)) != 0 && errno != EINTR) throw_errno(name, "cannot write");
}

// Some file systems cannot sync a folder and say EINVAL; their renames are as durable as they get.
void sync_folder(const std::string& folder, const std::string& name) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0 || (fsync(descriptor.get()) != 0 && errno != EINVAL)) {
    throw_errno(name, "cannot sync its folder");
  }
}

}  // namespace

OutputFile::OutputFile(const std::string& path, Temporary temporary) : ByteSink(output_name(path)) {
  struct stat status {};
  const std::optional<int> open_already = named_descriptor(path);
  if (open_already) {
    fd_ = fcntl(*open_already, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0) throw_errno(name(), "cannot write");
    return;
  }
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw_errno(path, "cannot write");
  if ((exists && S_ISDIR(status.st_mode)) || path.back() == '/') {
    throw Error(path + ": is a directory, expected the name of a file to write");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    open_stream(path);
    return;
  }
  if (exists) {
    if (::access(path.c_str(), W_OK) != 0) throw_errno(path, "cannot write");
    mode_ = status.st_mode & 07777U;
    keeps_mode_ = true;
  }
  final_path_ = behind_links(path);
  open_temporary(temporary == Temporary::named);
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::open_stream(const std::string& path) {
  do {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);  // waits for the reader of a FIFO
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) throw_errno(path, "cannot write");
}

void OutputFile::open_temporary(bool named) {
  const std::string folder = folder_of(final_path_);
  if (!named) fd_ = open_unnamed(folder);
  if (fd_ < 0) fd_ = open_named(folder, temporary_path_);
  if (fd_ >= 0) return;
  temporary_path_.clear();
  throw_errno(name(), "cannot write a file in folder " + folder);
}

void OutputFile::write(std::string_view bytes) {
  write_fully(fd_, bytes, name());
}

bool OutputFile::is_terminal() const {
  return ::isatty(fd_) == 1;
}

void OutputFile::commit() {
  if (is_atomic()) return publish();
  close_checked(fd_, name());
}

// The file is closed before the old one is replaced: should the close fail, the old one is still there.
void OutputFile::publish() {
  if (keeps_mode_ && fchmod(fd_, mode_) != 0) throw_errno(name(), "cannot set permissions");
  if (fsync(fd_) != 0) throw_errno(name(), "cannot write");
  const std::string folder = folder_of(final_path_);
  while (temporary_path_.empty()) {
    const std::string candidate = folder + "/" + temporary_name();
    if (linkat(AT_FDCWD, descriptor_path(fd_).c_str(), AT_FDCWD, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_path_ = candidate;
    } else if (errno != EEXIST) {
      throw_errno(name(), "cannot name the finished file");
    }
  }
  close_checked(fd_, name());
  if (::rename(temporary_path_.c_str(), final_path_.c_str()) != 0)
    throw_errno(name(), "cannot rename to the final name");
  temporary_path_.clear();
  sync_folder(folder, name());
}

void OutputFile::discard() {
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void give_second_name(const std::string& from, const std::string& to) {
  const std::string folder = folder_of(to);
  const std::string temporary = folder + "/" + temporary_name();
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    const bool renamed = ::rename(temporary.c_str(), to.c_str()) == 0;
    const int error = errno;
    ::unlink(temporary.c_str());  // still there when the rename failed, or when both were the same file already
    errno = error;
    if (!renamed) throw_errno(to, "cannot rename to the final name");
    sync_folder(folder, to);
    return;
  }
  const Descriptor source = open_for_reading(from);
  OutputFile copy(to);
  std::string chunk(std::size_t{1} << 20U, '\0');
  while (const Index got = read_some(source.get(), chunk, from)) {
    copy.write({chunk.data(), static_cast<std::size_t>(got)});
  }
  copy.commit();
}

SpoolFile::SpoolFile() {
  const char* variable = std::getenv("TMPDIR");
  folder_ = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  fd_ = open_unnamed(folder_);
  if (fd_ >= 0) return;
  std::string path;
  fd_ = open_named(folder_, path);
  if (fd_ < 0) throw_errno(folder_, "cannot write a temporary file (TMPDIR names the folder)");
  ::unlink(path.c_str());
}

SpoolFile::~SpoolFile() {
  ::close(fd_);
}

void SpoolFile::write(std::string_view bytes) {
  write_fully(fd_, bytes, name());
}

}  // namespace bam::io
