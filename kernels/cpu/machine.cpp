#include "kernels/cpu/machine.h"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <oneapi/dnnl/dnnl.hpp>

#include "base/error.h"
#include "kernels/cpu/matmul.h"

namespace bam::cpu {
namespace {

dnnl::cpu_isa library_cap(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return dnnl::cpu_isa::sse41;
    case Isa::avx2:
      return dnnl::cpu_isa::avx2;
    default:
      return dnnl::cpu_isa::all;
  }
}

std::string names_of_isas() {
  std::string names;
  for (const Isa isa : kAllIsas) {
    if (find_simd_kernels(isa) != nullptr) names += (names.empty() ? "" : ", ") + std::string(name_of(isa));
  }
  return names;
}

constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

// The number that is the whole first word of a file, as control groups write limits; kUnknown if there is none ("max").
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : kUnknown;
}

// The smallest limit of this process's control groups, which /proc/self/cgroup names ("0::/a" and "4:memory:/a").
std::size_t group_limit() {
  std::size_t limit = kUnknown;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    if (line.rfind("0::", 0) == 0) {
      limit = std::min(limit, number_in("/sys/fs/cgroup" + line.substr(path) + "/memory.max"));
    } else if (line.find(":memory:") != std::string::npos) {
      limit = std::min(limit, number_in("/sys/fs/cgroup/memory" + line.substr(path) + "/memory.limit_in_bytes"));
    }
  }
  // Inside a container the group's path need not exist, and its root is the container's own group.
  return std::min(
      {limit, number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

const int kThreadsAtStart = omp_get_max_threads();  // before anybody sets another number

}  // namespace

Isa choose_isa() {
  const char* wish = std::getenv("BAM_CPU_ISA");
  if (wish == nullptr || *wish == '\0') return best_isa();
  for (const Isa isa : kAllIsas) {
    if (name_of(isa) != wish || find_simd_kernels(isa) == nullptr) continue;
    dnnl::set_max_cpu_isa(library_cap(isa));
    return isa;
  }
  throw Error("BAM_CPU_ISA: '" + std::string(wish) + "' cannot be had on this machine, expected one of " +
              names_of_isas());
}

int choose_threads(int threads) {
  constexpr int kMost = 4096;
  if (threads < 0 || threads > kMost) {
    throw UsageError("--threads: " + std::to_string(threads) + " is out of range, expected 1 to " +
                     std::to_string(kMost) + ", or 0 for as many as this process may run on");
  }
  return threads > 0 ? threads : std::clamp(kThreadsAtStart, 1, kMost);
}

std::size_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::size_t kibibytes = 0;
  std::size_t found = 0;
  std::string name;
  while (info >> name) {
    std::size_t value = 0;
    std::string rest;
    info >> value;
    std::getline(info, rest);
    if (name == "MemAvailable:" || name == "SwapFree:") {
      kibibytes += value;
      ++found;
    }
  }
  return std::min(found > 0 ? kibibytes * 1024 : kUnknown, group_limit());
}

std::string describe_libraries() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch) +
         (has_native_bf16() ? ", bf16 products native" : ", bf16 products widened to f32");
}

}  // namespace bam::cpu
