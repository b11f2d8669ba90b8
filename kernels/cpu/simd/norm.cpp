#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

template <typename T>
BAM_INLINE void forward(const RmsnormForwardRows& args, T* y) {
  const Index dim = args.dim;
  for (Index row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * dim;
    const float squares = sum_vectors(dim, [&](Index i, auto part) {
      const Vec v = load(x + i, part);
      return v * v;
    });
    const float rstd = 1.0f / __builtin_sqrtf(squares / static_cast<float>(dim) + args.eps);
    args.rstd[row] = rstd;
    const Vec scale = broadcast(rstd);
    T* out = y + row * dim;
    for_vectors(dim, [&](Index i, auto part) {
      store(out + i, load(x + i, part) * scale * load(args.weight + i, part), part);
    });
  }
}

template <typename T>
BAM_INLINE void backward(const RmsnormBackwardRows& args, const T* dy_rows) {
  const Index dim = args.dim;
  for (Index row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * dim;
    const T* dy = dy_rows + row * dim;
    float* dx = args.dx + row * dim;
    const float rstd = args.rstd[row];
    const float projection = sum_vectors(
        dim, [&](Index i, auto part) { return load(dy + i, part) * load(args.weight + i, part) * load(x + i, part); });
    const Vec scale = broadcast(rstd);
    const Vec mean = broadcast(projection * rstd / static_cast<float>(dim));  // of g h
    for_vectors(dim, [&](Index i, auto part) {
      const Vec grad = load(dy + i, part);
      const Vec h = load(x + i, part) * scale;
      const Vec g = grad * load(args.weight + i, part);
      store(dx + i, fma(scale, g - h * mean, load(dx + i, part)), part);
      store(args.dweight + i, fma(grad, h, load(args.dweight + i, part)), part);
    });
  }
}

}  // namespace

void rmsnorm_forward(const RmsnormForwardRows& args) {
  if (args.half) {
    forward(args, static_cast<Bf16*>(args.y));
  } else {
    forward(args, static_cast<float*>(args.y));
  }
}

void rmsnorm_backward(const RmsnormBackwardRows& args) {
  if (args.half) {
    backward(args, static_cast<const Bf16*>(args.dy));
  } else {
    backward(args, static_cast<const float*>(args.dy));
  }
}

}  // namespace bam::cpu::BAM_ISA
