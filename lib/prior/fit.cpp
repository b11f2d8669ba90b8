#include "prior/fit.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/rng.h"
#include "prior/distribution.h"
#include "prior/linear.h"
#include "prior/maximize.h"
#include "prior/mu_profile.h"

namespace bam {
namespace {

// Shares of all queries below which a head has no other distance than one.
constexpr double kPointRest = 1e-9;
constexpr double kTieBic = 2;
constexpr double kNormal975 = 1.959963984540054;
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

// The distance seen most, or least, by what the uniform prior expects there, over neighbourhoods of `width` distances.
Index extreme_distance(const DistanceCounts& counts, bool most, Index width) {
  const auto longest = static_cast<std::size_t>(counts.longest());
  std::vector<double> seen(longest + 1, 0.0);  // cumulated
  std::vector<double> due(longest + 1, 0.0);
  double chances = 0;
  for (std::size_t t = longest; t-- > 0;) {
    chances += counts.queries()[t + 1] / static_cast<double>(t + 1);
    due[t + 1] = chances;
  }
  for (std::size_t t = 0; t < longest; ++t) {
    seen[t + 1] = seen[t] + counts.mass()[t];
    due[t + 1] += due[t];
  }
  double best = most ? -1.0 : std::numeric_limits<double>::infinity();
  Index at = 0;
  for (Index t = 0; t < counts.longest(); ++t) {
    const auto low = static_cast<std::size_t>(std::max<Index>(0, t - width / 2));
    const std::size_t high = std::min(longest, static_cast<std::size_t>(t + width / 2 + 1));
    const double expected = due[high] - due[low];
    if (!(expected > 0)) continue;
    const double ratio = (seen[high] - seen[low]) / expected;
    if (most ? ratio > best : ratio < best) {
      best = ratio;
      at = t;
    }
  }
  return at;
}

double mean_distance(const DistanceCounts& counts) {
  double sum = 0;
  double weight = 0;
  for (std::size_t t = 0; t < counts.mass().size(); ++t) {
    sum += counts.mass()[t] * static_cast<double>(t);
    weight += counts.mass()[t];
  }
  return weight > 0 ? sum / weight : 0;
}

class FamilySearch {
 public:
  FamilySearch(const DistanceCounts& counts, const LikelihoodFunction& likelihood, const PriorFamily& family,
               const FitOptions& options)
      : counts_(counts), likelihood_(likelihood), family_(family), options_(options) {
    typical_ = std::max(1.0, mean_distance(counts));
    search_ = {.free_shape = !family.shape,
               .free_mu = options.free_mu,
               .shape_low = family.shape_low,
               .shape_high = family.shape_high,
               .mu_low = 1 - static_cast<double>(counts.longest()),
               .mu_high = static_cast<double>(counts.longest())};
  }

  // The best of all starts. Where mu is free it is first held at the whole numbers that the counts suggest, since the
  // likelihood has a kink (below shape 1 a cusp) at each of them.
  void run() {
    if (!options_.free_mu) {
      from_all_starts(options_.mu);
      return;
    }
    for (const double mu : suggested_mus()) from_all_starts(mu);
    const std::vector<detail::Maximum> begun = found_;
    climb();
    // From another hill too, where it was nearly as high.
    const double reached = best_.point.mu;
    for (const detail::Maximum& other : begun) {
      if (other.value < best_.value - kNearby || std::abs(other.point.mu - reached) < 2) continue;
      try_from(search_, other.point);
    }
    climb();
  }

  // From a point that is known to be good.
  void run_from(const FitPoint& point) {
    try_from(search_, point);
    if (!options_.free_mu) return;
    try_from(held(), point);
    climb();
  }

  // How far mu reaches; what is found above the best on the way becomes the best.
  detail::MuProfile profile_mu(double inflation) {
    const detail::MuProfile profile =
        detail::profile_mu(likelihood_, counts_.total(), typical_, held(), best_, inflation);
    if (profile.better && profiles_++ < kMostProfiles) {
      best_ = *profile.better;
      climb();
    }
    return profile;
  }

  const detail::Maximum& best() const { return best_; }

  // Is there a mu further away than `far` that does as well as the best, by the likelihood ratio at 95 %?
  bool is_loose(double far) const {
    return std::any_of(found_.begin(), found_.end(), [&](const detail::Maximum& other) {
      return other.value > best_.value - kLikelihoodRatio95 && std::abs(other.point.mu - best_.point.mu) > far;
    });
  }

 private:
  static constexpr double kNearby = 10;
  static constexpr int kMostProfiles = 4;
  static constexpr double kLikelihoodRatio95 = 1.92;

  bool looks_for_most() const { return family_.shape || family_.shape_high > 0; }

  std::vector<double> suggested_mus() const {
    std::vector<double> mus = {0, std::round(typical_)};
    for (const Index width : {Index{1}, Index{9}, static_cast<Index>(typical_ / 2)}) {
      mus.push_back(-static_cast<double>(extreme_distance(counts_, looks_for_most(), width)));
    }
    std::sort(mus.begin(), mus.end());
    mus.erase(std::unique(mus.begin(), mus.end()), mus.end());
    return mus;
  }

  detail::Search held() const {
    detail::Search search = search_;
    search.free_mu = false;
    return search;
  }

  void from_all_starts(double mu) {
    const std::vector<double> fixed = {family_.shape.value_or(0)};
    for (const double shape : family_.shape ? fixed : family_.starts) {
      try_from(held(), {shape, -shape * std::log(typical_), mu});
    }
  }

  // From the best point on to neighbouring whole numbers and to what lies between, until neither is better.
  void climb() {
    constexpr int kMostRounds = 100;
    for (int round = 0; round < kMostRounds; ++round) {
      const double before = best_.value;
      const FitPoint at = best_.point;
      for (const double nudge : {-0.4, 0.0, 0.4}) try_from(search_, {at.shape, at.scale, at.mu + nudge});
      const FitPoint now = best_.point;
      for (const double mu : {std::ceil(now.mu) - 1, std::floor(now.mu), std::ceil(now.mu), std::floor(now.mu) + 1}) {
        if (mu >= search_.mu_low && mu <= search_.mu_high) try_from(held(), {now.shape, now.scale, mu});
      }
      if (!(best_.value > before + kGain)) return;
    }
  }

  // Differences of log likelihoods that are no progress.
  static constexpr double kGain = 1e-6;

  void try_from(const detail::Search& search, const FitPoint& start) {
    const detail::Maximum found = detail::maximize(likelihood_, counts_.total(), typical_, search, start);
    if (options_.free_mu) found_.push_back(found);
    if (!(found.value <= best_.value + (options_.free_mu ? kGain : 0.0))) best_ = found;
  }

  const DistanceCounts& counts_;
  const LikelihoodFunction& likelihood_;
  const PriorFamily& family_;
  const FitOptions& options_;
  detail::Search search_;
  double typical_ = 1;
  int profiles_ = 0;
  std::vector<detail::Maximum> found_;  // each the best for its mu; kept where mu is free
  detail::Maximum best_{{}, -std::numeric_limits<double>::infinity(), false};
};

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

std::vector<std::size_t> free_parameters(const PriorFamily& family, bool with_mu) {
  std::vector<std::size_t> free;
  if (!family.shape) free.push_back(0);
  free.push_back(1);
  if (with_mu) free.push_back(2);
  return free;
}

struct Sandwich {
  detail::SmallMatrix covariance;
  double excess = 1;  // mean of the scatter over the curvature: 1 where queries are independent draws
};

// Of the free parameters.
std::optional<Sandwich> sandwich(const LikelihoodFunction& likelihood, const std::vector<DistanceCounts>& groups,
                                 const FitPoint& point, const std::vector<std::size_t>& free, ErrorKind kind) {
  const Likelihood l = likelihood(point, true);
  detail::SmallMatrix bread(free.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (std::size_t j = 0; j < free.size(); ++j) {
      bread(i, j) = (kind == ErrorKind::fisher ? l.information : l.curvature)[free[i]][free[j]];
    }
  }
  const auto inverse = detail::inverse_of_positive(bread);
  if (!inverse) return std::nullopt;
  if (kind == ErrorKind::fisher) return Sandwich{*inverse};
  detail::SmallMatrix scatter(free.size());
  const auto count = static_cast<double>(groups.size());
  for (const DistanceCounts& group : groups) {
    const FitVector score = LikelihoodFunction(group)(point, false).gradient;
    for (std::size_t i = 0; i < free.size(); ++i) {
      for (std::size_t j = 0; j < free.size(); ++j) {
        scatter(i, j) += count / (count - 1) * score[free[i]] * score[free[j]];
      }
    }
  }
  const detail::SmallMatrix excess = detail::product(*inverse, scatter);
  Sandwich result{detail::product(excess, *inverse), 0};
  for (std::size_t i = 0; i < free.size(); ++i) result.excess += excess(i, i) / static_cast<double>(free.size());
  return result;
}

// Of fits to samples of the groups.
detail::SmallMatrix bootstrap(const std::vector<DistanceCounts>& groups, const FitPoint& point,
                              const PriorFamily& family, const FitOptions& options,
                              const std::vector<std::size_t>& free) {
  constexpr int kSamples = 200;
  constexpr std::uint64_t kStream = 0x626F6F74;
  Rng rng(options.seed, kStream);
  FitVector mean{};
  FitMatrix squares{};
  for (int sample = 0; sample < kSamples; ++sample) {
    DistanceCounts counts = groups[rng.below(groups.size())];
    for (std::size_t i = 1; i < groups.size(); ++i) counts.add(groups[rng.below(groups.size())]);
    const LikelihoodFunction likelihood(counts);
    FamilySearch search(counts, likelihood, family, options);
    search.run_from(point);
    const FitPoint& found = search.best().point;
    const FitVector off = {found.shape - point.shape, found.scale - point.scale, found.mu - point.mu};
    for (std::size_t i = 0; i < kFitParameters; ++i) {
      mean[i] += off[i] / kSamples;
      for (std::size_t j = 0; j < kFitParameters; ++j) squares[i][j] += off[i] * off[j];
    }
  }
  detail::SmallMatrix covariance(free.size());
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (std::size_t j = 0; j < free.size(); ++j) {
      const std::size_t a = free[i], b = free[j];
      covariance(i, j) = (squares[a][b] - kSamples * mean[a] * mean[b]) / (kSamples - 1);
    }
  }
  return covariance;
}

void add_errors(FamilyFit& fit, const detail::SmallMatrix& c, const std::vector<std::size_t>& free, bool free_shape) {
  // ln alpha = -scale / shape.
  const double shape = fit.point.shape;
  const double by_shape = free_shape ? fit.point.scale / (shape * shape) : 0;
  const double by_scale = -1 / shape;
  const std::size_t scale = free_shape ? 1 : 0;
  double variance = by_scale * by_scale * c(scale, scale);
  if (free_shape) {
    variance += by_shape * by_shape * c(0, 0) + 2 * by_shape * by_scale * c(0, scale);
    fit.beta_se = std::sqrt(c(0, 0));
    const double both = by_shape * c(0, 0) + by_scale * c(0, scale);
    if (variance > 0 && c(0, 0) > 0) fit.correlation = both / std::sqrt(variance * c(0, 0));
  }
  fit.alpha_se = fit.alpha() * std::sqrt(std::max(0.0, variance));
  if (free.back() == 2) fit.mu_se = std::sqrt(c(free.size() - 1, free.size() - 1));
}

// A free mu has the error of its profile; the others have theirs with mu held, and what they move with it.
void add_all_errors(FamilyFit& fit, FamilySearch& search, const LikelihoodFunction& likelihood,
                    const std::vector<DistanceCounts>& groups, const PriorFamily& family, const FitOptions& options) {
  if (fit.errors == ErrorKind::bootstrap) {
    const auto free = free_parameters(family, options.free_mu);
    add_errors(fit, bootstrap(groups, fit.point, family, options, free), free, !family.shape);
    return;
  }
  const auto free = free_parameters(family, false);
  const auto found = sandwich(likelihood, groups, fit.point, free, fit.errors);
  if (!found) return;
  detail::SmallMatrix covariance = found->covariance;
  if (!options.free_mu) {
    add_errors(fit, covariance, free, !family.shape);
    return;
  }
  const detail::MuProfile profile = search.profile_mu(found->excess);
  fit.loose_mu = profile.is_open;
  const FitVector by_mu = {profile.shape_by_mu, profile.scale_by_mu, 0};
  for (std::size_t i = 0; i < free.size(); ++i) {
    for (std::size_t j = 0; j < free.size(); ++j) {
      covariance(i, j) += by_mu[free[i]] * by_mu[free[j]] * profile.se * profile.se;
    }
  }
  add_errors(fit, covariance, free, !family.shape);
  if (profile.is_open) return;
  fit.mu_se = profile.se;
  fit.mu_profile = FamilyFit::Interval{profile.low, profile.high};
}

FamilyFit fit_family(const DistanceCounts& counts, const LikelihoodFunction& likelihood,
                     const std::vector<DistanceCounts>& groups, const PriorFamily& family, const FitOptions& options) {
  FamilyFit fit;
  fit.family = family.name;
  fit.errors = groups.size() > 1 ? options.errors : ErrorKind::fisher;
  if (family.is_uniform) {
    fit.log_likelihood = likelihood.uniform();
  } else {
    FamilySearch search(counts, likelihood, family, options);
    search.run();
    fit.parameters = (family.shape ? 0 : 1) + 1 + (options.free_mu ? 1 : 0);
    do {
      fit.point = search.best().point;
      fit.log_likelihood = search.best().value;
      fit.at_edge = search.best().at_edge;
      if (!fit.at_edge) add_all_errors(fit, search, likelihood, groups, family, options);
    } while (search.best().value > fit.log_likelihood);
    fit.loose_mu = fit.loose_mu || (options.free_mu && search.is_loose(1 + 3 * fit.mu_se.value_or(0)));
  }
  const auto k = static_cast<double>(fit.parameters);
  fit.aic = 2 * k - 2 * fit.log_likelihood;
  fit.bic = k * std::log(counts.total()) - 2 * fit.log_likelihood;
  fit.ks = ks_distance(counts, likelihood.expected_mass(fit.point));
  return fit;
}

// All mass at one distance: a prior of shape 1 around it that leaves 1e-3 elsewhere.
FamilyFit point_fit(const DistanceCounts& counts, const LikelihoodFunction& likelihood) {
  FamilyFit fit;
  fit.family = "point";
  fit.point = {1, std::log(std::log(2000.0)), -std::round(mean_distance(counts))};
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
  if (!best.alpha_se) return "trade-off";
  const bool wide_beta = best.beta_se && *best.beta_se > 0.25 * std::max(1.0, std::abs(best.point.shape));
  const bool wide_alpha = *best.alpha_se > 0.5 * best.alpha();
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

std::optional<FamilyFit::Interval> FamilyFit::beta_interval() const {
  if (!beta_se) return std::nullopt;
  return Interval{point.shape - kNormal975 * *beta_se, point.shape + kNormal975 * *beta_se};
}

std::optional<FamilyFit::Interval> FamilyFit::alpha_interval() const {
  if (!alpha_se) return std::nullopt;
  const double factor = std::exp(kNormal975 * *alpha_se / alpha());
  return Interval{alpha() / factor, alpha() * factor};
}

std::optional<FamilyFit::Interval> FamilyFit::mu_interval() const {
  if (mu_profile || !mu_se) return mu_profile;
  return Interval{point.mu - kNormal975 * *mu_se, point.mu + kNormal975 * *mu_se};
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
  head.mean_distance = mean_distance(counts);
  const LikelihoodFunction likelihood(counts);
  if (is_point(counts)) {
    head.verdict = "point";
    head.families.push_back(point_fit(counts, likelihood));
    return head;
  }
  for (const PriorFamily& family : prior_families()) {
    if (wanted(family, options)) head.families.push_back(fit_family(counts, likelihood, groups, family, options));
  }
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
