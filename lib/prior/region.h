// Inside lib/prior: what the counts leave open around an estimate.
#pragma once

#include <optional>
#include <vector>

#include "prior/maximize.h"

namespace bam::detail {

// With mu held the likelihood is smooth, and the other parameters are told by their covariance. By mu it has a kink at
// each key, below shape 1 a cusp, and its curvature at the estimate says little. So a region is a row of mus, each with
// the best of the other parameters there, and of all parameters the same is asked: what is the outermost value that the
// likelihood, with the best of the others, allows? Where mu is held the row has one point, and the answers are those of
// the covariance.
struct RegionPoint {
  FitPoint point;
  double drop = 0;         // below the maximum of the log likelihood
  FitMatrix covariance{};  // with mu held: 0 by mu
};

// A function of the parameters at a point, and its derivatives by them.
struct Quantity {
  double value = 0;
  FitVector gradient{};
};

struct Reach {
  double low = 0, high = 0;  // outermost within 1.92 of the maximum: 95 % by the likelihood ratio
  double se = 0;             // a third of the distance to the outermost within 4.5, on the wider side
};

// `of(point)` gives the quantity; `estimate` is its value at the maximum.
template <typename Of>
Reach reach_of(const std::vector<RegionPoint>& points, double estimate, Of&& of);

// The mus within 4.5 of `best`, and between them and others the places of 1.92 and 4.5; without covariances.
struct MuWalk {
  std::vector<RegionPoint> points;              // the estimate first
  bool open_below = false, open_above = false;  // no end was found there
  std::optional<Maximum> better;                // what was found above `best` on the way; then the others mean nothing
};

// `search` holds mu. Differences of log likelihoods count `inflation` times less, for draws that are not independent.
// Walks from the estimate outward, 11 steps to each of the next keys, 4 to those beyond and to stretches that grow from
// 8 keys on, until all of two is too low or the bounds of the search are reached.
MuWalk walk_mu(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
               const Maximum& best, double inflation);

inline constexpr double kRatio95 = 1.9207294103470615;  // half the quantile of chi squared with one degree of freedom
inline constexpr double kThreeErrors = 4.5;

template <typename Of>
Reach reach_of(const std::vector<RegionPoint>& points, double estimate, Of&& of) {
  Reach reach{estimate, estimate, 0};
  for (const RegionPoint& each : points) {
    const Quantity q = of(each.point);
    double variance = 0;
    for (std::size_t i = 0; i < kFitParameters; ++i) {
      for (std::size_t j = 0; j < kFitParameters; ++j)
        variance += q.gradient[i] * each.covariance[i][j] * q.gradient[j];
    }
    const auto half_width = [&](double allowed) {
      return std::sqrt(std::max(0.0, 2 * (allowed - each.drop) * variance));
    };
    if (each.drop <= kRatio95) {
      reach.low = std::min(reach.low, q.value - half_width(kRatio95));
      reach.high = std::max(reach.high, q.value + half_width(kRatio95));
    }
    if (each.drop <= kThreeErrors) {
      reach.se = std::max(reach.se, (std::abs(q.value - estimate) + half_width(kThreeErrors)) / 3);
    }
  }
  return reach;
}

}  // namespace bam::detail
