#include "kernels/cpu/isa.h"

namespace bam::cpu {

namespace portable {
extern const SimdKernels kKernels;
}
#ifdef BAM_BUILD_AVX2
namespace avx2 {
extern const SimdKernels kKernels;
}
#endif
#ifdef BAM_BUILD_AVX512
namespace avx512 {
extern const SimdKernels kKernels;
}
#endif

namespace {

#ifdef BAM_BUILD_AVX2
bool cpu_has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#endif

#ifdef BAM_BUILD_AVX512
bool cpu_has_avx512() {
  return cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

std::string_view name_of(Isa isa) {
  switch (isa) {
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    default:
      return "portable";
  }
}

const SimdKernels* find_simd_kernels(Isa isa) {
  switch (isa) {
#ifdef BAM_BUILD_AVX512
    case Isa::avx512:
      return cpu_has_avx512() ? &avx512::kKernels : nullptr;
#endif
#ifdef BAM_BUILD_AVX2
    case Isa::avx2:
      return cpu_has_avx2() ? &avx2::kKernels : nullptr;
#endif
    case Isa::portable:
      return &portable::kKernels;
    default:
      return nullptr;
  }
}

Isa best_isa() {
  Isa best = Isa::portable;
  for (const Isa isa : kAllIsas) {
    if (find_simd_kernels(isa) != nullptr) best = isa;
  }
  return best;
}

}  // namespace bam::cpu
