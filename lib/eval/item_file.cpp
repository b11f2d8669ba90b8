#include "eval/item_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "io/stream.h"

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
  }
  ~Sink() override { ::close(fd_); }

  void cut(std::size_t size) const {
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) fail("cannot cut off a torn row");
  }

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

  int fd_;
};

namespace {

constexpr Index kMostItemBytes = Index{4} << 30;

std::string header_of(const std::vector<io::Column>& columns) {
  std::string header;
  for (const io::Column& column : columns) header.append(header.empty() ? "" : "\t").append(column.name);
  return header + "\n";
}

}  // namespace

// Whatever the file is, it stays as it is until all of its rows were found to be such rows.
ItemFile::ItemFile(const std::string& path, const std::vector<io::Column>& columns,
                   const std::vector<std::string>& may_be_empty)
    : columns_(columns), sink_(std::make_unique<Sink>(path)) {
  const std::string bytes = io::read_file(path, kMostItemBytes);
  const std::size_t whole = bytes.rfind('\n') + 1;  // 0 where there is no line feed
  rows_ = parse_item_rows(path, std::string_view(bytes).substr(0, whole), columns, may_be_empty);
  if (whole == 0 && !header_of(columns).starts_with(bytes)) {
    throw Error(path + ":1: no row of such a table, expected one to add to, or a new name");
  }
  if (whole < bytes.size()) sink_->cut(whole);
  table_ = std::make_unique<io::TableWriter>(*sink_, io::TableFormat::tsv, columns_, whole == 0);
}

ItemFile::~ItemFile() = default;

void ItemFile::add(ItemRow row) {
  table_->row(row.cells());
  rows_.push_back(std::move(row));
}

}  // namespace bam::eval
