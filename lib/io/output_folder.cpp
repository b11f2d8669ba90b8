#include "io/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "io/atomic_file.h"
#include "io/descriptor.h"

namespace bam::io {
namespace {

namespace fs = std::filesystem;

void sync_folder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) fsync(folder.get());
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

OutputFolder::OutputFolder(const std::string& path) : final_(path) {
  while (final_.size() > 1 && final_.ends_with('/')) final_.pop_back();
  std::error_code error;
  if (fs::exists(fs::symlink_status(final_, error)) &&
      !(fs::is_directory(final_, error) && fs::is_empty(final_, error))) {
    throw Error(path + ": there already, expected the name of a new folder");
  }
  const std::string name = parent_of(final_) + "/" + temporary_name();
  if (mkdir(name.c_str(), 0777) != 0) throw_errno(path, "cannot write");
  temporary_ = name;
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void OutputFolder::commit() {
  sync_folder(temporary_);
  if (rename(temporary_.c_str(), final_.c_str()) != 0) throw_errno(final_, "cannot write");
  temporary_.clear();
  sync_folder(parent_of(final_));
}

}  // namespace bam::io
