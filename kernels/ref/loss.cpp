#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {

void RefBackend::do_cross_entropy(const CrossEntropyArgs& args) {
  const auto logits = reals(args.logits);
  const auto targets = integers(args.targets);
  const auto nll = reals(args.nll);
  const auto hit = integers(args.hit);
  const auto dlogits = reals(args.dlogits);
  const double grad_scale = args.grad_scale.empty() ? 1.0 : reals(args.grad_scale)(0);
  const Index vocabulary = logits.size(1);
  for (Index n = 0; n < logits.size(0); ++n) {
    const Index target = targets(n);
    const bool scored = target >= 0;

    double largest = -std::numeric_limits<double>::infinity();
    for (Index v = 0; v < vocabulary; ++v) largest = std::max(largest, logits(n, v));
    double sum = 0;
    for (Index v = 0; v < vocabulary; ++v) sum += std::exp(logits(n, v) - largest);
    const double log_sum = largest + std::log(sum);

    nll(n) = scored ? log_sum - logits(n, target) : 0.0;
    if (!hit.empty()) {
      bool won = scored;
      for (Index v = 0; v < vocabulary && won; ++v) won = v == target || logits(n, target) > logits(n, v);
      hit(n) = won ? 1 : 0;
    }
    if (!dlogits.empty()) {
      for (Index v = 0; v < vocabulary; ++v) {
        const double softmax = std::exp(logits(n, v) - log_sum);
        dlogits(n, v) = scored ? grad_scale * (softmax - (v == target ? 1.0 : 0.0)) : 0.0;
      }
    }
  }
}

}  // namespace bam::ref
