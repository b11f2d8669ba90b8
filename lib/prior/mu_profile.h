// Inside lib/prior: how far mu may be from its estimate.
#pragma once

#include <optional>

#include "prior/maximize.h"

namespace bam::detail {

// The likelihood has a kink at each key, below shape 1 a cusp, and its curvature at the estimate says little about mu.
// What does is the profile: the most that can be reached at each mu with the best of the other parameters.
struct MuProfile {
  double low = 0, high = 0;  // outermost mus within 1.92 of the maximum: 95 % of a likelihood ratio
  double se = 0;             // a third of the distance to the outermost mu within 4.5, on the wider side
  // How the best of the other parameters moves with mu, over that distance.
  double shape_by_mu = 0, scale_by_mu = 0;
  bool is_open = false;           // no end was found on one side: the others mean nothing
  std::optional<Maximum> better;  // what was found above `best` on the way; then the others mean nothing
};

// `search` holds mu. Differences of log likelihoods count `inflation` times less, for draws that are not independent.
// Walks from the estimate outward, 11 steps from key to key, closer ones beside it, and over growing stretches beyond 8
// keys, until all of a stretch is too low or the bounds of the search are reached.
MuProfile profile_mu(const LikelihoodFunction& likelihood, double queries, double typical_distance,
                     const Search& search, const Maximum& best, double inflation);

}  // namespace bam::detail
