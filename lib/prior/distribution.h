// A head's prior as what it is: a distribution over the distances 0, 1, ..., n - 1 of the n keys that a query sees.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prior/init.h"

namespace bam {

// b of a key `distance` tokens back, as ops/prior.h has it, floor and clamp included.
double prior_logit(const HeadPrior& prior, double distance);

// The paper's parameters. alpha = exp(-scale / shape) is not defined at shape 0.
double mu_of(const HeadPrior& prior);
std::optional<double> alpha_of(const HeadPrior& prior);
double loc_of_mu(double mu);

// local       beta > 0            mass around mu
// retrieval   -0.6 <= beta <= 0   what is near is suppressed, all that is far nearly alike
// aggressive  beta < -0.6         the same, with more that is suppressed
// uniform     no prior at all (nope)
enum class HeadClass { local, retrieval, aggressive, uniform };
HeadClass class_of(double shape);
std::string_view name_of(HeadClass which);

// Probabilities of the distances 0 ... visible - 1 under softmax(factor b). visible >= 1.
std::vector<double> prior_probabilities(const HeadPrior& prior, Index visible, double factor = 1);

// Where the mass of a distribution over distances lies.
struct MassSummary {
  double ln_z = 0;     // ln sum_t exp(factor b(t))
  Index half = 0;      // the smallest distance up to which half of the mass lies
  Index low = 0;       // the same for 5 %
  Index high = 0;      // and for 95 %
  double beyond = 0;   // mass at distances of `context` and more
  Index window = 0;    // the smallest number of nearest keys outside which less than eps lies
  double entropy = 0;  // nats
};
MassSummary summarize_prior(const HeadPrior& prior, Index visible, double factor, Index context, double eps);

}  // namespace bam
