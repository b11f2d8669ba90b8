#include "prior/mu_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bam::detail {
namespace {

constexpr double kGain = 1e-6;
constexpr double kRatio95 = 1.92;  // half the quantile of chi squared with one degree of freedom
constexpr double kThreeErrors = 4.5;
constexpr int kMostStretches = 80;
constexpr int kStretchesBeyond = 2;
constexpr double kNear = 8;  // keys that are each looked at; beyond, stretches grow by one part in as many

// From one key to the next, or over a stretch of several, in the direction of the walk. Close to a key a cusp is steep.
constexpr std::array<double, 11> kSteps = {0.0, 0.02, 0.06, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.97};

// The place between two neighbours, one within `allowed` below the maximum and one beyond, where a parabola passes it.
double crossing(double inside_mu, double inside_drop, double outside_mu, double outside_drop, double allowed) {
  const double from = std::sqrt(std::max(0.0, inside_drop)), to = std::sqrt(outside_drop);
  const double share = to > from ? (std::sqrt(allowed) - from) / (to - from) : 1;
  return inside_mu + std::clamp(share, 0.0, 1.0) * (outside_mu - inside_mu);
}

// One side of the estimate.
struct Side {
  double reach95 = 0, reach3 = 0;  // mus
  FitPoint last;                   // the outermost within 4.5 that was looked at
  bool ends = false;
};

}  // namespace

MuProfile profile_mu(const LikelihoodFunction& likelihood, double queries, double typical_distance,
                     const Search& search, const Maximum& best, double inflation) {
  MuProfile profile;
  const double at = best.point.mu;
  const auto walk = [&](double direction) {
    Side side{at, at, best.point, false};
    FitPoint from = best.point;
    double before_mu = at, before_drop = 0;
    double key = 0;  // where the stretch begins
    int stretches_since = 0;
    const double first_key = direction > 0 ? std::floor(at) : std::ceil(at);
    for (int i = 0; i < kMostStretches && stretches_since < kStretchesBeyond; ++i, ++stretches_since) {
      const double keys = std::max(1.0, std::floor(key / kNear));
      for (const double step : kSteps) {
        const double mu = first_key + direction * (key + keys * step);
        if (direction * (mu - at) <= 0) continue;
        if (mu < search.mu_low || mu > search.mu_high) {
          side.ends = before_drop > kThreeErrors;
          return side;
        }
        const Maximum found = maximize(likelihood, queries, typical_distance, search, {from.shape, from.scale, mu});
        if (found.value > best.value + kGain && (!profile.better || found.value > profile.better->value)) {
          profile.better = found;
        }
        const double drop = (best.value - found.value) / inflation;
        const auto extend = [&](double allowed, double& reach) {
          if (drop <= allowed) {
            reach = mu;
          } else if (before_drop <= allowed) {
            reach = crossing(before_mu, before_drop, mu, drop, allowed);
          }
        };
        extend(kRatio95, side.reach95);
        extend(kThreeErrors, side.reach3);
        if (drop <= kThreeErrors) {
          stretches_since = 0;
          from = side.last = found.point;
        }
        before_mu = mu;
        before_drop = drop;
      }
      key += keys;
    }
    side.ends = stretches_since >= kStretchesBeyond;
    return side;
  };
  const Side below = walk(-1), above = walk(1);
  profile.is_open = !below.ends || !above.ends;
  profile.low = below.reach95;
  profile.high = above.reach95;
  profile.se = std::max(at - below.reach3, above.reach3 - at) / 3;
  if (const double distance = above.last.mu - below.last.mu; distance > 0) {
    profile.shape_by_mu = (above.last.shape - below.last.shape) / distance;
    profile.scale_by_mu = (above.last.scale - below.last.scale) / distance;
  }
  return profile;
}

}  // namespace bam::detail
