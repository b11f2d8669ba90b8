#include "prior/family_search.h"

#include <algorithm>
#include <cmath>

namespace bam::detail {
namespace {

constexpr double kNearby = 10;
constexpr int kMostWalks = 4;
// Differences of log likelihoods that are no progress.
constexpr double kGain = 1e-6;

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

}  // namespace

double mean_distance(const DistanceCounts& counts) {
  double sum = 0;
  double weight = 0;
  for (std::size_t t = 0; t < counts.mass().size(); ++t) {
    sum += counts.mass()[t] * static_cast<double>(t);
    weight += counts.mass()[t];
  }
  return weight > 0 ? sum / weight : 0;
}

FamilySearch::FamilySearch(const DistanceCounts& counts, const LikelihoodFunction& likelihood,
                           const PriorFamily& family, const FitOptions& options)
    : counts_(counts), likelihood_(likelihood), family_(family), options_(options) {
  typical_ = std::max(1.0, mean_distance(counts));
  search_ = {.free_shape = !family.shape,
             .free_mu = options.free_mu,
             .shape_low = family.shape_low,
             .shape_high = family.shape_high,
             .mu_low = 1 - static_cast<double>(counts.longest()),
             .mu_high = static_cast<double>(counts.longest())};
}

void FamilySearch::run() {
  if (!options_.free_mu) {
    from_all_starts(options_.mu);
    return;
  }
  for (const double mu : suggested_mus()) from_all_starts(mu);
  const std::vector<Maximum> begun = found_;
  climb();
  // From another hill too, where it was nearly as high.
  const double reached = best_.point.mu;
  for (const Maximum& other : begun) {
    if (other.value < best_.value - kNearby || std::abs(other.point.mu - reached) < 2) continue;
    try_from(search_, other.point);
  }
  climb();
}

void FamilySearch::run_from(const FitPoint& point) {
  try_from(search_, point);
  if (!options_.free_mu) return;
  try_from(held(), point);
  climb();
}

MuWalk FamilySearch::walk_mu(double inflation) {
  MuWalk walk = detail::walk_mu(likelihood_, counts_.total(), typical_, held(), best_, inflation);
  if (walk.better && walks_++ < kMostWalks) {
    best_ = *walk.better;
    climb();
  }
  return walk;
}

bool FamilySearch::is_loose(double far) const {
  return std::any_of(found_.begin(), found_.end(), [&](const Maximum& other) {
    return other.value > best_.value - kRatio95 && std::abs(other.point.mu - best_.point.mu) > far;
  });
}

std::vector<double> FamilySearch::suggested_mus() const {
  std::vector<double> mus = {0, std::round(typical_)};
  for (const Index width : {Index{1}, Index{9}, static_cast<Index>(typical_ / 2)}) {
    mus.push_back(-static_cast<double>(extreme_distance(counts_, looks_for_most(), width)));
  }
  std::sort(mus.begin(), mus.end());
  mus.erase(std::unique(mus.begin(), mus.end()), mus.end());
  return mus;
}

Search FamilySearch::held() const {
  Search search = search_;
  search.free_mu = false;
  return search;
}

void FamilySearch::from_all_starts(double mu) {
  const std::vector<double> fixed = {family_.shape.value_or(0)};
  for (const double shape : family_.shape ? fixed : family_.starts) {
    try_from(held(), {shape, -shape * std::log(typical_), mu});
  }
}

// From the best point on to neighbouring whole numbers and to what lies between, until neither is better.
void FamilySearch::climb() {
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

void FamilySearch::try_from(const Search& search, const FitPoint& start) {
  const Maximum found = maximize(likelihood_, counts_.total(), typical_, search, start);
  if (options_.free_mu) found_.push_back(found);
  if (!(found.value <= best_.value + (options_.free_mu ? kGain : 0.0))) best_ = found;
}

}  // namespace bam::detail
