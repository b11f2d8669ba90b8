#include "prior/spread.h"

#include <cmath>

#include "base/rng.h"
#include "prior/linear.h"

namespace bam::detail {
namespace {

std::vector<std::size_t> free_parameters(const PriorFamily& family, bool with_mu) {
  std::vector<std::size_t> free;
  if (!family.shape) free.push_back(0);
  free.push_back(1);
  if (with_mu) free.push_back(2);
  return free;
}

// The covariance of the free parameters at points of one likelihood.
class Sandwich {
 public:
  Sandwich(const LikelihoodFunction& likelihood, const std::vector<DistanceCounts>& groups, const FitPoint& best,
           std::vector<std::size_t> free, ErrorKind kind)
      : likelihood_(likelihood), free_(std::move(free)), kind_(kind), scatter_(free_.size()) {
    if (kind_ == ErrorKind::fisher) return;
    const auto count = static_cast<double>(groups.size());
    for (const DistanceCounts& group : groups) {
      const FitVector score = LikelihoodFunction(group)(best, false).gradient;
      for (std::size_t i = 0; i < free_.size(); ++i) {
        for (std::size_t j = 0; j < free_.size(); ++j) {
          scatter_(i, j) += count / (count - 1) * score[free_[i]] * score[free_[j]];
        }
      }
    }
  }

  // Empty where the information is singular.
  std::optional<FitMatrix> covariance(const FitPoint& point) const {
    const auto inverse = inverse_bread(point);
    if (!inverse) return std::nullopt;
    const SmallMatrix c = kind_ == ErrorKind::fisher ? *inverse : product(product(*inverse, scatter_), *inverse);
    FitMatrix full{};
    for (std::size_t i = 0; i < free_.size(); ++i) {
      for (std::size_t j = 0; j < free_.size(); ++j) full[free_[i]][free_[j]] = c(i, j);
    }
    return full;
  }

  // Mean of the scatter over the curvature: 1 where queries are independent draws.
  double excess(const FitPoint& best) const {
    const auto inverse = kind_ == ErrorKind::fisher ? std::nullopt : inverse_bread(best);
    if (!inverse) return 1;
    const SmallMatrix ratio = product(*inverse, scatter_);
    double mean = 0;
    for (std::size_t i = 0; i < free_.size(); ++i) mean += ratio(i, i) / static_cast<double>(free_.size());
    return mean;
  }

 private:
  std::optional<SmallMatrix> inverse_bread(const FitPoint& point) const {
    const Likelihood l = likelihood_(point, true);
    SmallMatrix bread(free_.size());
    for (std::size_t i = 0; i < free_.size(); ++i) {
      for (std::size_t j = 0; j < free_.size(); ++j) {
        bread(i, j) = (kind_ == ErrorKind::fisher ? l.information : l.curvature)[free_[i]][free_[j]];
      }
    }
    return inverse_of_positive(bread);
  }

  const LikelihoodFunction& likelihood_;
  std::vector<std::size_t> free_;
  ErrorKind kind_;
  SmallMatrix scatter_;
};

// Of fits to samples of the groups.
FitMatrix bootstrap(const std::vector<DistanceCounts>& groups, const FitPoint& point, const PriorFamily& family,
                    const FitOptions& options) {
  constexpr int kSamples = 200;
  constexpr std::uint64_t kStream = 0x626F6F74;
  Rng rng(options.seed, kStream);
  FitVector mean{};
  FitMatrix covariance{};
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
      for (std::size_t j = 0; j < kFitParameters; ++j) covariance[i][j] += off[i] * off[j] / (kSamples - 1);
    }
  }
  for (std::size_t i = 0; i < kFitParameters; ++i) {
    for (std::size_t j = 0; j < kFitParameters; ++j) covariance[i][j] -= mean[i] * mean[j] * kSamples / (kSamples - 1);
  }
  return covariance;
}

Quantity beta_at(const FitPoint& point) {
  return {point.shape, {1, 0, 0}};
}

Quantity ln_alpha_at(const FitPoint& point) {
  return {-point.scale / point.shape, {point.scale / (point.shape * point.shape), -1 / point.shape, 0}};
}

Quantity mu_at(const FitPoint& point) {
  return {point.mu, {0, 0, 1}};
}

void from_region(FamilyFit& fit, const std::vector<RegionPoint>& points, bool free_shape, bool free_mu) {
  const auto reach = [&](auto&& of) { return reach_of(points, of(fit.point).value, of); };
  const Reach alpha = reach(ln_alpha_at);
  fit.alpha_spread = {fit.alpha() * alpha.se, std::exp(alpha.low), std::exp(alpha.high)};
  if (free_mu) {
    const Reach mu = reach(mu_at);
    fit.mu_spread = {mu.se, mu.low, mu.high};
  }
  if (!free_shape) return;
  const Reach beta = reach(beta_at);
  fit.beta_spread = {beta.se, beta.low, beta.high};
  if (!(beta.se > 0) || !(alpha.se > 0)) return;
  // Of two variables of unit variance the sum and the difference have the variances 2 (1 + r) and 2 (1 - r).
  const auto combined = [&](double sign) {
    const double se = reach([&](const FitPoint& point) {
                        const Quantity b = beta_at(point), a = ln_alpha_at(point);
                        Quantity both{b.value / beta.se + sign * a.value / alpha.se, {}};
                        for (std::size_t i = 0; i < kFitParameters; ++i) {
                          both.gradient[i] = b.gradient[i] / beta.se + sign * a.gradient[i] / alpha.se;
                        }
                        return both;
                      }).se;
    return se * se;
  };
  const double sum = combined(1), difference = combined(-1);
  fit.correlation = (sum - difference) / (sum + difference);
}

}  // namespace

void add_spreads(FamilyFit& fit, FamilySearch& search, const LikelihoodFunction& likelihood,
                 const std::vector<DistanceCounts>& groups, const PriorFamily& family, const FitOptions& options) {
  std::vector<RegionPoint> points = {{fit.point, 0, {}}};
  if (fit.errors == ErrorKind::bootstrap) {
    points[0].covariance = bootstrap(groups, fit.point, family, options);
    from_region(fit, points, !family.shape, options.free_mu);
    return;
  }
  const Sandwich sandwich(likelihood, groups, fit.point, free_parameters(family, false), fit.errors);
  if (!sandwich.covariance(fit.point)) return;
  bool open_below = false, open_above = false;
  if (options.free_mu) {
    MuWalk walk = search.walk_mu(sandwich.excess(fit.point));
    fit.loose_mu = walk.open_below || walk.open_above;
    open_below = walk.open_below;
    open_above = walk.open_above;
    points = std::move(walk.points);
  }
  for (RegionPoint& each : points) each.covariance = sandwich.covariance(each.point).value_or(FitMatrix{});
  from_region(fit, points, !family.shape, options.free_mu);
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  if (fit.loose_mu) fit.mu_spread->se = kEndless;
  if (open_below) fit.mu_spread->low = -kEndless;
  if (open_above) fit.mu_spread->high = kEndless;
}

}  // namespace bam::detail
