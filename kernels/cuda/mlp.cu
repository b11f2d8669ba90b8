#include "kernels/ops/mlp.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

BAM_DEVICE float sigmoid(float x) {
  return 1.0F / (1.0F + expf(-x));
}

template <typename T>
struct Forward {
  const T *gate, *up;
  T* out;
  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    float g[4];
    float u[4];
    load_four(gate + first, count, aligned, g);
    load_four(up + first, count, aligned, u);
    for (int i = 0; i < 4; ++i) g[i] = g[i] * sigmoid(g[i]) * u[i];
    store_four(out + first, count, aligned, g);
  }
};

// Everything is read before anything is written: the results may lie on the arguments.
template <typename T>
struct Backward {
  const T *gate, *up, *dout;
  T *dgate, *dup, *out;
  BAM_DEVICE void operator()(Index first, int count, bool aligned) const {
    float g[4];
    float u[4];
    float d[4];
    load_four(gate + first, count, aligned, g);
    load_four(up + first, count, aligned, u);
    load_four(dout + first, count, aligned, d);
    for (int i = 0; i < 4; ++i) {
      const float s = sigmoid(g[i]);
      const float silu = g[i] * s;
      const float slope = s * (1.0F + g[i] * (1.0F - s));
      g[i] = d[i] * u[i] * slope;
      d[i] *= silu;
      u[i] *= silu;
    }
    store_four(dgate + first, count, aligned, g);
    store_four(dup + first, count, aligned, d);
    store_four(out + first, count, aligned, u);
  }
};

template <typename T>
void forward(const SwigluForwardArgs& args, void* stream) {
  for_each_four(Forward<T>{data_of<T>(args.gate), data_of<T>(args.up), data_of<T>(args.out)}, args.out.count(),
                in_fours(args.gate, args.up, args.out), stream);
}

template <typename T>
void backward(const SwigluBackwardArgs& args, void* stream) {
  for_each_four(Backward<T>{data_of<T>(args.gate), data_of<T>(args.up), data_of<T>(args.dout), data_of<T>(args.dgate),
                            data_of<T>(args.dup), data_of<T>(args.out)},
                args.out.count(), in_fours(args.gate, args.up, args.dout, args.dgate, args.dup, args.out), stream);
}

}  // namespace

void swiglu_forward(const SwigluForwardArgs& args, const Context& ctx) {
  if (is_half(args.out)) return forward<Bf16>(args, ctx.stream);
  forward<float>(args, ctx.stream);
}

void swiglu_backward(const SwigluBackwardArgs& args, const Context& ctx) {
  if (is_half(args.out)) return backward<Bf16>(args, ctx.stream);
  backward<float>(args, ctx.stream);
}

}  // namespace bam::cuda
