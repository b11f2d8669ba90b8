#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

template <bool kLooksAtV>
BAM_INLINE void step(const OptimizerRange& args) {
  const Vec grad_scale = broadcast(args.grad_scale);
  const Vec beta1 = broadcast(args.beta1), rest1 = broadcast(args.rest1);
  const Vec beta2 = broadcast(args.beta2), rest2 = broadcast(args.rest2);
  const Vec decay = broadcast(args.decay), rate = broadcast(args.rate);
  const Vec root_scale = broadcast(args.root_scale), floor = broadcast(args.floor);
  for_vectors(args.n, [&](Index i, auto part) {
    const Vec g = load(args.grad + i, part) * grad_scale;
    const Vec m = fma(beta1, load(args.m + i, part), rest1 * g);
    const Vec v = fma(beta2, load(args.v + i, part), rest2 * g * g);
    store(args.m + i, m, part);
    store(args.v + i, v, part);
    const Vec kept = load(args.param + i, part) * decay;
    const Vec divisor = kLooksAtV ? fma(root_scale, sqrt(v), floor) : floor;
    store(args.param + i, kept - rate * m / divisor, part);
  });
}

}  // namespace

void optimizer_step(const OptimizerRange& args) {
  if (args.root_scale > 0) {
    step<true>(args);
  } else {
    step<false>(args);
  }
}

}  // namespace bam::cpu::BAM_ISA
