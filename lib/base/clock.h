// Seconds that go by, whatever the wall clock does.
#pragma once

#include <chrono>

namespace bam {

inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bam
