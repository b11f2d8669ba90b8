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
// The likelihood has a kink in mu at each key, below shape 1 a cusp, and by mu its curvature says little: of a free mu
// fisher and groups give what its profile says, with the differences of log likelihoods divided by the mean excess of
// the scatter over the curvature.
enum class ErrorKind { fisher, groups, bootstrap };

struct FitOptions {
  std::vector<std::string> families;  // by name; none = all
  bool free_mu = false;
  double mu = 0;                         // where it is not free
  ErrorKind errors = ErrorKind::groups;  // where there are groups; else fisher
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
  // Standard errors, empty where the parameter is fixed or the information is singular. alpha's is that of ln alpha
  // times alpha; correlation is that of the estimates of beta and ln alpha.
  std::optional<double> beta_se, alpha_se, mu_se, correlation;
  ErrorKind errors = ErrorKind::fisher;

  HeadPrior prior() const;
  double alpha() const;  // not for the uniform family

  // Of 95 %, where there is a standard error; alpha's is even in ln alpha, since its estimate is skewed.
  struct Interval {
    double low = 0;
    double high = 0;
  };
  std::optional<Interval> beta_interval() const;
  std::optional<Interval> alpha_interval() const;
  std::optional<Interval> mu_interval() const;
  std::optional<Interval> mu_profile;  // of 95 %, of a free mu, unless the errors are those of the bootstrap
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
