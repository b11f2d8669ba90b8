#include <math.h>

#include "kernels/cpu/simd/fused.h"
#include "kernels/cpu/simd/range.h"

namespace bam::cpu::BAM_ISA {
namespace {

constexpr Index kBlock = 8;                  // vectors between two looks at the maximum
constexpr float kLowest = -3.40282347e+38f;  // not -inf: -inf - -inf would be NaN where a logit is -inf

struct Totals {
  float max;
  float sum;        // of exp(x - max)
  Index not_below;  // logits that are not smaller than the target's, itself among them; NaN counts
};

// One pass: each lane keeps its own maximum and rescales its sum when the maximum grows, which soon becomes rare.
BAM_INLINE Totals totals(const float* x, Index n, float target_logit) {
  Vec max_so_far = broadcast(kLowest);
  Vec sum{};
  IVec counted{};  // -1 for each
  const Vec bar = broadcast(target_logit);
  const auto raise = [&](Vec candidate) {
    if (any(candidate > max_so_far)) {
      const Vec raised = max(max_so_far, candidate);
      sum *= exp(max_so_far - raised);
      max_so_far = raised;
    }
  };
  Index i = 0;
  for (; i + kBlock * kLanes <= n; i += kBlock * kLanes) {
    Vec highest = load(x + i);
    for (Index b = 1; b < kBlock; ++b) highest = max(highest, load(x + i + b * kLanes));
    raise(highest);
    Vec block{};
    for (Index b = 0; b < kBlock; ++b) {
      const Vec v = load(x + i + b * kLanes);
      block += exp(v - max_so_far);
      counted += ~(v < bar);
    }
    sum += block;
  }
  for (; i < n; i += kLanes) {
    const Index left = n - i;
    Vec v = broadcast(-INFINITY);  // what is not there adds exp(-inf) = 0 and is below every finite target
    if (left >= kLanes) {
      v = load(x + i);
    } else {
      for (int lane = 0; lane < static_cast<int>(left); ++lane) v[lane] = x[i + lane];
    }
    raise(v);
    sum += exp(v - max_so_far);
    for (int lane = 0; lane < kLanes && lane < left; ++lane) counted[lane] += v[lane] < target_logit ? 0 : -1;
  }

  Totals out{kLowest, 0, 0};
  for (int lane = 0; lane < kLanes; ++lane) {
    out.max = out.max < max_so_far[lane] ? max_so_far[lane] : out.max;
    out.not_below -= counted[lane];
  }
  out.sum = reduce_add(sum * exp(max_so_far - broadcast(out.max)));
  return out;
}

template <typename T>
BAM_INLINE void gradient(const CrossEntropyRow& args, const Totals& t, T* dlogits) {
  const float target_logit = args.logits[args.target];  // before dlogits, which may be the same memory, overwrites it
  const Vec shift = broadcast(t.max);
  const Vec scale = broadcast(args.grad_scale / t.sum);
  for_vectors(args.vocab,
              [&](Index i, auto part) { store(dlogits + i, exp(load(args.logits + i, part) - shift) * scale, part); });
  const float p = exp(broadcast(target_logit - t.max))[0] / t.sum;
  store_first(dlogits + args.target, broadcast(args.grad_scale * (p - 1.0f)), 1);
}

}  // namespace

CrossEntropyResult cross_entropy(const CrossEntropyRow& args) {
  const float target_logit = args.logits[args.target];
  const Totals t = totals(args.logits, args.vocab, target_logit);
  // ln in double: the loss of a well-predicted token is a small difference of large numbers
  const double nll =
      ::log(static_cast<double>(t.sum)) + (static_cast<double>(t.max) - static_cast<double>(target_logit));
  if (args.dlogits != nullptr) {
    if (args.half) {
      gradient(args, t, static_cast<Bf16*>(args.dlogits));
    } else {
      gradient(args, t, static_cast<float*>(args.dlogits));
    }
  }
  return {static_cast<float>(nll), t.not_below == 1};
}

}  // namespace bam::cpu::BAM_ISA
