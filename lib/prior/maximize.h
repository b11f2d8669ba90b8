// Inside lib/prior: the maximum of a likelihood over some of its parameters.
#pragma once

#include "prior/likelihood.h"

namespace bam::detail {

struct Search {
  bool free_shape = false;
  bool free_mu = false;
  double shape_low = 0, shape_high = 0;
  double mu_low = 0, mu_high = 0;
};

struct Maximum {
  FitPoint point;
  double value = 0;
  bool at_edge = false;
};

// |b| at a typical distance stays within exp(kFaintest) and exp(kSteepest). Far beyond its mode a prior of a large
// shape is faint there and yet tells distances apart.
inline constexpr double kFaintest = -60;
inline constexpr double kSteepest = 12;

// The local maximum that is reached from `start`: by Newton's steps where they are enough, else by SLSQP (NLopt) first.
Maximum maximize(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
                 const FitPoint& start);

}  // namespace bam::detail
