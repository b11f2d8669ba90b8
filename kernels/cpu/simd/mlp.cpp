#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

struct Sigmoid {
  Vec value;  // 1 / (1 + exp(-x))
  Vec rest;   // 1 - value, without the cancellation
};

// Through exp(-|x|), which never overflows, so that both ends keep their last bits.
BAM_INLINE Sigmoid sigmoid(Vec x) {
  const Vec q = exp(min(x, -x));
  const Vec large = broadcast(1.0f) / (broadcast(1.0f) + q);
  const Vec small = q * large;
  const IVec positive = x >= Vec{};
  return {select(positive, large, small), select(positive, small, large)};
}

template <typename T>
BAM_INLINE void forward(const T* gate, const T* up, T* out, Index n) {
  for_vectors(n, [&](Index i, auto part) {
    const Vec g = load(gate + i, part);
    store(out + i, g * sigmoid(g).value * load(up + i, part), part);
  });
}

template <typename T>
BAM_INLINE void backward(const SwigluBackwardRange& args) {
  const T* gate = static_cast<const T*>(args.gate);
  const T* up = static_cast<const T*>(args.up);
  const T* dout = static_cast<const T*>(args.dout);
  T* dgate = static_cast<T*>(args.dgate);
  T* dup = static_cast<T*>(args.dup);
  T* out = static_cast<T*>(args.out);
  for_vectors(args.n, [&](Index i, auto part) {
    const Vec g = load(gate + i, part);
    const Vec u = load(up + i, part);
    const Vec d = load(dout + i, part);
    const Sigmoid s = sigmoid(g);
    const Vec silu = g * s.value;
    const Vec slope = s.value * fma(g, s.rest, broadcast(1.0f));
    store(dgate + i, d * u * slope, part);
    store(dup + i, d * silu, part);
    store(out + i, silu * u, part);
  });
}

}  // namespace

void swiglu_forward(const SwigluForwardRange& args) {
  if (args.half) {
    forward(static_cast<const Bf16*>(args.gate), static_cast<const Bf16*>(args.up), static_cast<Bf16*>(args.out),
            args.n);
  } else {
    forward(static_cast<const float*>(args.gate), static_cast<const float*>(args.up), static_cast<float*>(args.out),
            args.n);
  }
}

void swiglu_backward(const SwigluBackwardRange& args) {
  if (args.half) {
    backward<Bf16>(args);
  } else {
    backward<float>(args);
  }
}

}  // namespace bam::cpu::BAM_ISA
