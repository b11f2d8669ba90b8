// Inside lib/prior: how sure a fit is.
#pragma once

#include "prior/family_search.h"

namespace bam::detail {

// Gives the fit of a family, `fit.point` the best that `search` has found and `fit.errors` the kind, its spreads. The
// search may find a better point on the way; then they mean nothing, and it is asked again with that point.
void add_spreads(FamilyFit& fit, FamilySearch& search, const LikelihoodFunction& likelihood,
                 const std::vector<DistanceCounts>& groups, const PriorFamily& family, const FitOptions& options);

}  // namespace bam::detail
