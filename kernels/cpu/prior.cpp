#include "kernels/ops/prior.h"

#include <cmath>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

constexpr Index kOperations = 256;  // a power costs as much as so many additions

struct Prior {
  double shape, strength, mu, loc;

  static Prior of(const ConstTensorView& shape, const ConstTensorView& scale, const ConstTensorView& loc, Index head) {
    const double l = *at<float>(loc, head);
    return {*at<float>(shape, head), std::exp(static_cast<double>(*at<float>(scale, head))), 2.0 * std::sinh(l), l};
  }
  double offset(Index distance) const { return -static_cast<double>(distance) - mu; }
  double at_x(double x) const { return -strength * std::pow(x, shape); }
};

double floored(double offset) {
  return std::abs(offset) + kPriorFloor;
}

}  // namespace

void prior_table(const PriorTableArgs& args, CpuContext& ctx) {
  const Index heads = args.table.shape[0];
  const Index length = args.table.shape[1];
  parallel_rows(ctx, heads * length, kOperations, [&](Index first, Index last) {
    while (first < last) {  // the share's piece of one head after the other
      const Index head = first / length;
      const Index end = std::min(last, (head + 1) * length);
      const Prior prior = Prior::of(args.shape, args.scale, args.loc, head);
      for (; first < end; ++first) {
        const double b = prior.at_x(floored(prior.offset(first - head * length)));
        *at<float>(args.table, first) = static_cast<float>(b < kPriorLowest ? kPriorLowest : b);
      }
    }
  });
}

void prior_backward(const PriorBackwardArgs& args, CpuContext& ctx) {
  constexpr double kNoSign = 1e-4;
  const Index length = args.dtable.shape[1];
  parallel_rows(ctx, args.dtable.shape[0], length * kOperations, [&](Index first, Index last) {
    for (Index head = first; head < last; ++head) {
      const Prior prior = Prior::of(args.shape, args.scale, args.loc, head);
      double dshape = 0, dscale = 0, dloc = 0;
      for (Index n = 0; n < length; ++n) {
        const double offset = prior.offset(n);
        const double x = floored(offset);
        const double b = prior.at_x(x);
        if (b < kPriorLowest) continue;
        const double grad_b = static_cast<double>(*at<float>(args.dtable, head * length + n)) * b;
        dscale += grad_b;
        dshape += grad_b * std::log(x);
        if (std::abs(offset) > kNoSign) dloc -= grad_b * (prior.shape / x) * (offset > 0 ? 1.0 : -1.0);
      }
      const auto add_to = [head](const TensorView& sum, double value) {
        if (!sum.empty()) *at<float>(sum, head) += static_cast<float>(value);
      };
      add_to(args.dshape, dshape);
      add_to(args.dscale, dscale);
      add_to(args.dloc, dloc * 2.0 * std::cosh(prior.loc));
    }
  });
}

void alibi_table(const AlibiTableArgs& args, CpuContext& ctx) {
  const Index length = args.table.shape[1];
  parallel_rows(ctx, args.table.shape[0], length, [&](Index first, Index last) {
    for (Index head = first; head < last; ++head) {
      const double slope = args.slopes[static_cast<std::size_t>(head)];
      for (Index n = 0; n < length; ++n) {
        *at<float>(args.table, head * length + n) = static_cast<float>(-slope * static_cast<double>(n));
      }
    }
  });
}

}  // namespace bam::cpu
