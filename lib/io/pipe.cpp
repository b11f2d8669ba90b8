#include "io/pipe.h"

#include <filesystem>

namespace bam::io {

bool is_pipe(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (path == "-") return true;
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

}  // namespace bam::io
