#include "kernels/ops/mlp.h"

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {

void swiglu_forward(const SwigluForwardArgs& args, CpuContext& ctx) {
  parallel_elements(ctx, args.out.count(), [&](Index first, Index count) {
    ctx.simd->swiglu_forward({.gate = at(args.gate, first),
                              .up = at(args.up, first),
                              .out = at(args.out, first),
                              .half = is_half(args.out),
                              .n = count});
  });
}

void swiglu_backward(const SwigluBackwardArgs& args, CpuContext& ctx) {
  parallel_elements(ctx, args.out.count(), [&](Index first, Index count) {
    ctx.simd->swiglu_backward({.gate = at(args.gate, first),
                               .up = at(args.up, first),
                               .dout = at(args.dout, first),
                               .dgate = at(args.dgate, first),
                               .dup = at(args.dup, first),
                               .out = at(args.out, first),
                               .half = is_half(args.out),
                               .n = count});
  });
}

}  // namespace bam::cpu
