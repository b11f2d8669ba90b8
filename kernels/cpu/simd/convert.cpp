#include "kernels/cpu/simd/convert.h"

#include "kernels/cpu/simd/vec.h"

namespace bam::cpu::BAM_ISA {
namespace {

// y[i] = function(x[i]), by vectors and then the rest.
template <typename From, typename To, typename Function>
BAM_INLINE void map(const From* x, To* y, Index n, Function function) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, function(load(x + i)));
  const int rest = static_cast<int>(n - i);
  if (rest > 0) store_first(y + i, function(load_first(x + i, rest)), rest);
}

}  // namespace

void widen(const Bf16* x, float* y, Index n) {
  map(x, y, n, [](Vec v) { return v; });
}
void narrow(const float* x, Bf16* y, Index n) {
  map(x, y, n, [](Vec v) { return v; });
}
void exp_array(const float* x, float* y, Index n) {
  map(x, y, n, [](Vec v) { return exp(v); });
}
void exp2_array(const float* x, float* y, Index n) {
  map(x, y, n, [](Vec v) { return exp2(v); });
}

}  // namespace bam::cpu::BAM_ISA
