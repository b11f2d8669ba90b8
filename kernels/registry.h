// What backends this executable has, by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"

namespace bam {

struct BackendInfo {
  std::string name;
  bool available = false;
  std::string detail;  // what it runs on, or why it is not available
};

std::vector<BackendInfo> list_backends();

// device   "cpu", "ref", "cuda" or "cuda:N" (the library is opened on demand), or "auto": cuda where there is one,
//          else cpu
// threads  0 = as many as this process may run on
// place    which of the processes that compute together on this machine, from 0 on. "cuda" is the device of that
//          number; where there are fewer devices they are taken in turn.
// Throws UsageError for an unknown name, Error for a device that is not available.
std::unique_ptr<Backend> make_backend(std::string_view device, int threads, int place = 0);

}  // namespace bam
