// System calls on descriptors, with the manners every source and sink here needs: interrupted and non-blocking calls
// are repeated, short ones are completed, errors name the file. For use inside this box.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace bam::io {

// Throws Error "NAME: WHAT: text of errno".
[[noreturn]] void throw_errno(const std::string& name, const std::string& what);

// A descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return fd_; }
  int release();

 private:
  int fd_;
};

// For reading; Error for a missing or unreadable file and for a directory.
Descriptor open_for_reading(const std::string& path);

bool is_regular_file(int fd);
Index file_size(int fd, const std::string& name);

// At the descriptor's position. read_some: 0 means the end.
Index read_some(int fd, std::span<char> buffer, const std::string& name);
void write_fully(int fd, std::string_view bytes, const std::string& name);

// At `offset`. read_fully_at: Error when the file ends before the buffer is full.
void read_fully_at(int fd, Index offset, std::span<char> buffer, const std::string& name);
void write_fully_at(int fd, Index offset, std::string_view bytes, const std::string& name);

// A path under which this process can open the same file again, even if it has no name.
std::string descriptor_path(int fd);

}  // namespace bam::io
