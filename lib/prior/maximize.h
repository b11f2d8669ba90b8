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

// |b| at a typical distance stays within exp(-kHeight) and exp(kHeight).
inline constexpr double kHeight = 12;

// The local maximum that is reached from `start`: SLSQP (NLopt), then Newton's steps.
Maximum maximize(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
                 const FitPoint& start);

}  // namespace bam::detail
