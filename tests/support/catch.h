// Catch2 under one name: version 2 (one header) and version 3 (split headers) are both in supported distributions.
#pragma once

#ifdef BAM_OWN_CATCH
#include "gpu/catch.h"
#elif __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace bam::test {

// A program in which a case was skipped and none failed returns this, which ctest counts as skipped
// (Catch2 before version 3 has no SKIP of its own).
inline constexpr int kSkippedStatus = 77;

// Records a skipped case. Use: `return skip("BAM_TEST_DATA is not set");`
void skip(const std::string& reason);

}  // namespace bam::test
