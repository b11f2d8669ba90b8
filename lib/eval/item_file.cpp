#include "eval/item_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace bam::eval {

class ItemFile::Sink : public io::ByteSink {
 public:
  explicit Sink(const std::string& path)
      : ByteSink(path), fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail("cannot open");
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      throw Error(path + ": another process is adding to it");
    }
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(fd_);
      throw Error(path + ": not a file, expected one to add rows to");
    }
    cut_torn_row(status.st_size);
  }
  ~Sink() override { ::close(fd_); }

  bool is_new() const { return size_ == 0; }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot write");
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

 private:
  [[noreturn]] void fail(const char* what) const { throw Error(name() + ": " + what + ": " + std::strerror(errno)); }

  // Everything behind the last line feed.
  void cut_torn_row(off_t size) {
    std::array<char, 4096> block{};
    size_ = size;
    while (size_ > 0) {
      const auto wanted = std::min(static_cast<off_t>(block.size()), size_);
      const ssize_t got = ::pread(fd_, block.data(), static_cast<std::size_t>(wanted), size_ - wanted);
      if (got != wanted) fail("cannot read");
      const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
      const std::size_t feed = bytes.rfind('\n');
      if (feed != std::string_view::npos) {
        size_ += static_cast<off_t>(feed) + 1 - wanted;
        break;
      }
      size_ -= wanted;
    }
    if (size_ != size && ::ftruncate(fd_, size_) != 0) fail("cannot cut off a torn row");
  }

  int fd_;
  off_t size_ = 0;
};

ItemFile::ItemFile(const std::string& path, const std::vector<io::Column>& columns,
                   const std::vector<std::string>& may_be_empty)
    : columns_(columns), sink_(std::make_unique<Sink>(path)) {
  if (!sink_->is_new()) rows_ = read_item_rows({path}, columns, may_be_empty);
  table_ = std::make_unique<io::TableWriter>(*sink_, io::TableFormat::tsv, columns_, sink_->is_new());
}

ItemFile::~ItemFile() = default;

void ItemFile::add(ItemRow row) {
  table_->row(row.cells());
  rows_.push_back(std::move(row));
}

}  // namespace bam::eval
