// Numbers too small for a full significand, below 1.2e-38, which a processor may take a hundred times as long for.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace bam::cpu {

// While one lives, they count as 0 in its thread, read and written. What attention gives keys that its prior puts far
// away is that small, and Intel's cores leave their pipelines for each product with one: measured on a Sapphire Rapids,
// attention backward over windows of 512 took 1.56 times as long.
class DenormalsAreZero {
 public:
#ifdef __SSE2__
  DenormalsAreZero() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | kReadAsZero);
  }
  ~DenormalsAreZero() {
    _mm_setcsr(before_);
  }
#else
  DenormalsAreZero() = default;
  ~DenormalsAreZero() {}
#endif
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

#ifdef __SSE2__
 private:
  static constexpr unsigned kReadAsZero = 0x40;  // _MM_DENORMALS_ZERO_ON, whose header is SSE3's
  unsigned before_;
#endif
};

}  // namespace bam::cpu
