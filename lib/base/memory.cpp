#include "base/memory.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace bam {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (!(file >> value)) return std::nullopt;  // "max" in a control group
  return value;
}

double machine_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  double kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes) {
    std::getline(file, unit);
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return kUnlimited;
}

// Version 2 groups, from this process's own up to the root: each may limit.
double control_group_available() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  double least = kUnlimited;
  while (std::getline(file, line)) {
    if (line.rfind("0::", 0) != 0) continue;
    std::string group = line.substr(3);
    for (;;) {
      const std::string folder = "/sys/fs/cgroup" + group + "/";
      const auto limit = number_in(folder + "memory.max");
      const auto used = number_in(folder + "memory.current");
      if (limit && used) least = std::min(least, *limit - *used);
      const auto slash = group.rfind('/');
      if (group.size() <= 1 || slash == std::string::npos) break;
      group.resize(slash);
    }
  }
  return least;
}

}  // namespace

double available_memory_bytes() {
  return std::max(0.0, std::min(machine_available(), control_group_available()));
}

void give_back_large_blocks() {
  constexpr int kLargeBytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
}

void give_back_free_memory() {
  malloc_trim(0);
}

}  // namespace bam
