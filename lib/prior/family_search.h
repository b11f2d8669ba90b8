// Inside lib/prior: the best prior of a family.
#pragma once

#include <limits>
#include <vector>

#include "prior/fit.h"
#include "prior/region.h"

namespace bam::detail {

double mean_distance(const DistanceCounts& counts);

class FamilySearch {
 public:
  // All are referred to.
  FamilySearch(const DistanceCounts& counts, const LikelihoodFunction& likelihood, const PriorFamily& family,
               const FitOptions& options);

  // The best of all starts. Where mu is free it is first held at the whole numbers that the counts suggest, since the
  // likelihood has a kink (below shape 1 a cusp) at each of them.
  void run();
  // From a point that is known to be good.
  void run_from(const FitPoint& point);
  // How far mu reaches; what is found above the best on the way becomes the best.
  MuWalk walk_mu(double inflation);

  const Maximum& best() const { return best_; }
  // Is there a mu further away than `far` that does as well as the best, by the likelihood ratio at 95 %?
  bool is_loose(double far) const;

 private:
  bool looks_for_most() const { return family_.shape || family_.shape_high > 0; }
  std::vector<double> suggested_mus() const;
  Search held() const;
  void from_all_starts(double mu);
  void climb();
  void try_from(const Search& search, const FitPoint& start);

  const DistanceCounts& counts_;
  const LikelihoodFunction& likelihood_;
  const PriorFamily& family_;
  const FitOptions& options_;
  Search search_;
  double typical_ = 1;
  int walks_ = 0;
  std::vector<Maximum> found_;  // each the best for its mu; kept where mu is free
  Maximum best_{{}, -std::numeric_limits<double>::infinity(), false};
};

}  // namespace bam::detail
