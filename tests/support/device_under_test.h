// Which backends a test is about. BAM_TEST_DEVICE names one; without it a test of every backend takes all that are
// here, and a test of one takes cpu. So the CUDA backend goes through the tests of the others, on a device or by
// emulation.
#pragma once

#include <cstdlib>
#include <string>

namespace bam::test {

inline std::string device_under_test() {
  const char* const name = std::getenv("BAM_TEST_DEVICE");
  return name == nullptr ? "cpu" : name;
}

inline bool is_under_test(const std::string& device) {
  return std::getenv("BAM_TEST_DEVICE") == nullptr || device == device_under_test();
}

}  // namespace bam::test
