// Scratch folders and whole files for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "support/errors.h"

namespace bam::test {

// A folder of its own, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::random_device device;
    do {
      path_ = std::filesystem::temp_directory_path() / ("bam-test-" + std::to_string(device()));
    } while (!std::filesystem::create_directory(path_));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  int entries() const {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void spit(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out << bytes;
}

// Overwrites a part of a file in place: much quicker than writing it anew where a test does so at every byte.
inline void patch(const std::string& path, std::size_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
}

inline bool is_one_line(const std::string& text) {
  return !text.empty() && !contains(text, "\n");
}

}  // namespace bam::test
