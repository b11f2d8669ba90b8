#include "prior/fit.h"

#include <algorithm>

#include "base/error.h"
#include "prior/distribution.h"
#include "prior/family_search.h"
#include "prior/spread.h"

namespace bam {
namespace {

// Shares of all queries below which a head has no other distance than one.
constexpr double kPointRest = 1e-9;
constexpr double kTieBic = 2;
constexpr double kMisfit = 0.1;  // of ks

bool wanted(const PriorFamily& family, const FitOptions& options) {
  const auto& names = options.families;
  return names.empty() || std::find(names.begin(), names.end(), family.name) != names.end();
}

void check_families(const FitOptions& options) {
  for (const std::string& name : options.families) {
    const auto& all = prior_families();
    if (std::any_of(all.begin(), all.end(), [&](const PriorFamily& f) { return f.name == name; })) continue;
    throw UsageError("'" + name + "' is not a family, expected uniform, laplace, gaussian, ggd or relaxed");
  }
}

double ks_distance(const DistanceCounts& counts, const std::vector<double>& expected) {
  double seen = 0;
  double due = 0;
  double largest = 0;
  const std::vector<double>& mass = counts.mass();
  for (std::size_t t = 0; t < std::max(mass.size(), expected.size()); ++t) {
    if (t < mass.size()) seen += mass[t];
    if (t < expected.size()) due += expected[t];
    largest = std::max(largest, std::abs(seen - due));
  }
  return largest / counts.total();
}

// A family and where the search for its best prior stands.
struct Candidate {
  const PriorFamily& family;
  std::optional<detail::FamilySearch> search;  // not of the uniform family
  FamilyFit fit;
};

// What follows from the best prior that the search has seen.
void take_best(Candidate& candidate, const DistanceCounts& counts, const LikelihoodFunction& likelihood) {
  FamilyFit& fit = candidate.fit;
  if (candidate.search) {
    fit.point = candidate.search->best().point;
    fit.log_likelihood = candidate.search->best().value;
    fit.at_edge = candidate.search->best().at_edge;
  }
  const auto k = static_cast<double>(fit.parameters);
  fit.aic = 2 * k - 2 * fit.log_likelihood;
  fit.bic = k * std::log(counts.total()) - 2 * fit.log_likelihood;
  fit.ks = ks_distance(counts, likelihood.expected_mass(fit.point));
}

Candidate search_family(const DistanceCounts& counts, const LikelihoodFunction& likelihood, const PriorFamily& family,
                        const FitOptions& options) {
  Candidate candidate{family, {}, {}};
  candidate.fit.family = family.name;
  if (family.is_uniform) {
    candidate.fit.log_likelihood = likelihood.uniform();
  } else {
    candidate.fit.parameters = (family.shape ? 0 : 1) + 1 + (options.free_mu ? 1 : 0);
    candidate.search.emplace(counts, likelihood, family, options).run();
  }
  take_best(candidate, counts, likelihood);
  return candidate;
}

void tell_spreads(Candidate& candidate, const DistanceCounts& counts, const LikelihoodFunction& likelihood,
                  const std::vector<DistanceCounts>& groups, const FitOptions& options) {
  FamilyFit& fit = candidate.fit;
  fit.errors = groups.size() > 1 ? options.errors : ErrorKind::fisher;
  if (!candidate.search) return;
  detail::FamilySearch& search = *candidate.search;
  if (!fit.at_edge) detail::add_spreads(fit, search, likelihood, groups, candidate.family, options);
  while (search.best().value > fit.log_likelihood) {
    take_best(candidate, counts, likelihood);
    if (!fit.at_edge) detail::add_spreads(fit, search, likelihood, groups, candidate.family, options);
  }
  fit.loose_mu = fit.loose_mu || (options.free_mu && search.is_loose(1 + 3 * (fit.mu_spread ? fit.mu_spread->se : 0)));
}

// All mass at one distance: a prior of shape 1 around it that leaves 1e-3 elsewhere.
FamilyFit point_fit(const DistanceCounts& counts, const LikelihoodFunction& likelihood) {
  FamilyFit fit;
  fit.family = "point";
  fit.point = {1, std::log(std::log(2000.0)), -std::round(detail::mean_distance(counts))};
  fit.log_likelihood = likelihood(fit.point, false).value;
  fit.aic = fit.bic = -2 * fit.log_likelihood;
  fit.ks = ks_distance(counts, likelihood.expected_mass(fit.point));
  return fit;
}

bool is_point(const DistanceCounts& counts) {
  const double most = *std::max_element(counts.mass().begin(), counts.mass().end());
  double all = 0;
  for (const double each : counts.mass()) all += each;
  return all - most <= kPointRest * all;
}

std::string verdict_of(const HeadFit& head) {
  const FamilyFit& best = head.families[head.best];
  if (best.ks > kMisfit) return "misfit";
  if (best.parameters == 0) return "uniform";
  if (best.at_edge) return "edge";
  if (!best.alpha_spread) return "trade-off";
  const bool wide_beta = best.beta_spread && best.beta_spread->se > 0.25 * std::max(1.0, std::abs(best.point.shape));
  const bool wide_alpha = best.alpha_spread->se > 0.5 * best.alpha();
  const bool one = best.correlation && std::abs(*best.correlation) > 0.99;
  if (wide_beta || wide_alpha || one || best.loose_mu) return "trade-off";
  if (head.runner_up && head.families[*head.runner_up].bic - best.bic < kTieBic) return "tied";
  return "identified";
}

}  // namespace

const std::vector<PriorFamily>& prior_families() {
  static const std::vector<PriorFamily> families = {
      {.name = "uniform", .shape = 0, .starts = {}, .is_uniform = true},
      {.name = "laplace", .shape = 1, .starts = {}},
      {.name = "gaussian", .shape = 2, .starts = {}},
      {.name = "ggd", .shape = {}, .shape_low = 0.02, .shape_high = 20, .starts = {0.5, 1, 2.5}},
      {.name = "relaxed", .shape = {}, .shape_low = -8, .shape_high = -0.02, .starts = {-0.3, -1, -2.5}}};
  return families;
}

HeadPrior FamilyFit::prior() const {
  return {point.shape, point.scale, loc_of_mu(point.mu)};
}

double FamilyFit::alpha() const {
  return std::exp(-point.scale / point.shape);
}

HeadFit fit_head(const DistanceCounts& counts, const std::vector<DistanceCounts>& groups, const FitOptions& options) {
  check_families(options);
  HeadFit head;
  head.queries = counts.total();
  if (!counts.is_finite()) {
    head.verdict = "not-finite";
    return head;
  }
  double mass = 0;
  for (const double each : counts.mass()) mass += each;
  if (!(counts.total() > 0) || !(mass > 0)) {
    head.verdict = "no-data";
    return head;
  }
  head.mean_distance = detail::mean_distance(counts);
  const LikelihoodFunction likelihood(counts);
  if (is_point(counts)) {
    head.verdict = "point";
    head.families.push_back(point_fit(counts, likelihood));
    return head;
  }
  std::vector<Candidate> candidates;
  for (const PriorFamily& family : prior_families()) {
    if (wanted(family, options)) candidates.push_back(search_family(counts, likelihood, family, options));
  }
  const auto ahead = [](const Candidate& a, const Candidate& b) { return a.fit.bic < b.fit.bic; };
  const auto first = std::min_element(candidates.begin(), candidates.end(), ahead);
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    if (options.all_families || it == first) tell_spreads(*it, counts, likelihood, groups, options);
  }
  for (Candidate& candidate : candidates) head.families.push_back(std::move(candidate.fit));
  const auto better = [&](std::size_t a, std::size_t b) { return head.families[a].bic < head.families[b].bic; };
  for (std::size_t i = 1; i < head.families.size(); ++i) {
    if (better(i, head.best)) head.best = i;
  }
  for (std::size_t i = 0; i < head.families.size(); ++i) {
    if (i != head.best && (!head.runner_up || better(i, *head.runner_up))) head.runner_up = i;
  }
  head.verdict = verdict_of(head);
  return head;
}

}  // namespace bam
