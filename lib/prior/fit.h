// Fits of attention by distance: which prior a head behaves as if it had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prior/likelihood.h"

namespace bam {

// A family of priors, a subset of all (shape, scale, mu).
//   uniform   no parameter          laplace  shape 1: ALiBi          gaussian  shape 2
//   ggd       shape above 0         relaxed  shape below 0: what is near is suppressed
struct PriorFamily {
  std::string_view name;
  std::optional<double> shape;  // fixed
  double shape_low = 0;         // else its range
  double shape_high = 0;
  std::vector<double> starts;  // shapes to begin the search from
  bool is_uniform = false;
};
const std::vector<PriorFamily>& prior_families();

// How sure an estimate is.
//   fisher   the inverse of the expected information, with each query as one independent draw
//   groups   the sandwich of the observed curvature around the scatter of the scores of groups of queries (windows of
//            text): queries of one window are not independent, and their weights are no draws
//   bootstrap  the scatter of fits to 200 samples of the groups, drawn with replacement: slower, and free of any theory
//            of smooth likelihoods
// The likelihood has a kink in mu at each key, below shape 1 a cusp, and by mu its curvature says little: with a free
// mu fisher and groups look at the likelihood of each mu with the best of the other parameters, and at their curvature
// there; differences of log likelihoods are divided by the mean excess of the scatter over the curvature.
enum class ErrorKind { fisher, groups, bootstrap };

struct FitOptions {
  std::vector<std::string> families;  // by name; none = all
  bool free_mu = false;
  double mu = 0;                         // where it is not free
  ErrorKind errors = ErrorKind::groups;  // where there are groups; else fisher
  bool all_families = false;             // are all to have errors, or the best alone
  std::uint64_t seed = 0;                // of the samples
};

struct FamilyFit {
  std::string family;
  FitPoint point;
  Index parameters = 0;  // that were fitted
  double log_likelihood = 0;
  double aic = 0;
  double bic = 0;         // parameters ln(queries) - 2 log_likelihood
  double ks = 0;          // largest difference of the distribution functions of distance, seen and expected
  bool at_edge = false;   // a parameter ran into its bound: the likelihood still rises
  bool loose_mu = false;  // a mu far outside its error does as well (within 1.92 of the log likelihood)

  struct Spread {
    double se = 0;
    double low = 0, high = 0;  // the interval of 95 %
  };
  // Empty where the parameter is fixed, nothing can be said or nothing was asked. With a free mu the intervals are
  // those of the likelihood ratio and a standard error is a third of what three of them allow; else both are those of
  // the covariance. alpha's are those of ln alpha, since its estimate is skewed: the error times alpha, the ends of the
  // interval as powers of e. What has no end is infinite, as it may be of mu.
  std::optional<Spread> beta_spread, alpha_spread, mu_spread;
  std::optional<double> correlation;  // of the estimates of beta and ln alpha
  ErrorKind errors = ErrorKind::fisher;

  HeadPrior prior() const;
  double alpha() const;  // not for the uniform family
};

// What can be said at all.
//   identified  the best family is ahead of the next by 2 in BIC and its parameters are known
//   tied        another family is as good: within 2 in BIC
//   trade-off   alpha and beta cannot be told apart: their errors are large (beta 0.25 of itself or 0.25, alpha half)
//               or their estimates almost one (correlation beyond 0.99); or mu is loose
//   edge        the likelihood still rises at a bound: a power law, or no limit at all
//   uniform     no prior does better than none
//   misfit      the best family is still far from what was seen: more than 0.1 in the distribution function
//   point       all mass at one distance: any prior that is narrow enough; the one given leaves 1e-3 elsewhere
//   no-data     no query with two visible keys
//   not-finite  weights that are negative, infinite or not a number
struct HeadFit {
  std::string verdict;
  std::vector<FamilyFit> families;  // in the order of prior_families(); none for no-data and not-finite
  std::size_t best = 0;
  std::optional<std::size_t> runner_up;
  double queries = 0;
  double mean_distance = 0;
};

// `groups` hold the same queries, each once; none or one gives ErrorKind::fisher. Throws UsageError for a family that
// is not known.
HeadFit fit_head(const DistanceCounts& counts, const std::vector<DistanceCounts>& groups, const FitOptions& options);

}  // namespace bam
