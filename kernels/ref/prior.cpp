#include <cmath>

#include "kernels/ref/grid.h"
#include "kernels/ref/ref_backend.h"

namespace bam::ref {
namespace {

// One head's prior at one distance.
struct Prior {
  double x;          // distance from the mode, never 0
  double b;          // clamped
  double direction;  // of -n - mu
  bool clamped;
};

Prior prior_at(double shape, double scale, double loc, Index distance) {
  const double from_mode = -static_cast<double>(distance) - 2.0 * std::sinh(loc);
  const double x = std::abs(from_mode) + kPriorFloor;
  const double b = -std::exp(scale) * std::pow(x, shape);
  const double direction = std::abs(from_mode) < 1e-4 ? 0.0 : std::copysign(1.0, from_mode);
  return {x, b < kPriorLowest ? kPriorLowest : b, direction, b < kPriorLowest};
}

}  // namespace

void RefBackend::do_prior_table(const PriorTableArgs& args) {
  const auto shape = reals(args.shape);
  const auto scale = reals(args.scale);
  const auto loc = reals(args.loc);
  const auto table = reals(args.table);
  for (Index h = 0; h < table.size(0); ++h) {
    for (Index n = 0; n < table.size(1); ++n) table(h, n) = prior_at(shape(h), scale(h), loc(h), n).b;
  }
}

void RefBackend::do_prior_backward(const PriorBackwardArgs& args) {
  const auto shape = reals(args.shape);
  const auto scale = reals(args.scale);
  const auto loc = reals(args.loc);
  const auto dtable = reals(args.dtable);
  const auto dshape = reals(args.dshape);
  const auto dscale = reals(args.dscale);
  const auto dloc = reals(args.dloc);
  for (Index h = 0; h < dtable.size(0); ++h) {
    for (Index n = 0; n < dtable.size(1); ++n) {
      const auto [x, b, direction, clamped] = prior_at(shape(h), scale(h), loc(h), n);
      if (clamped) continue;
      if (!dshape.empty()) dshape(h) += dtable(h, n) * b * std::log(x);
      if (!dscale.empty()) dscale(h) += dtable(h, n) * b;
      if (!dloc.empty()) dloc(h) += dtable(h, n) * -b * shape(h) / x * direction * 2.0 * std::cosh(loc(h));
    }
  }
}

void RefBackend::do_alibi_table(const AlibiTableArgs& args) {
  const auto table = reals(args.table);
  for (Index h = 0; h < table.size(0); ++h) {
    for (Index n = 0; n < table.size(1); ++n) {
      table(h, n) = -args.slopes[static_cast<std::size_t>(h)] * static_cast<double>(n);
    }
  }
}

}  // namespace bam::ref
