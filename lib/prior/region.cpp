#include "prior/region.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace bam::detail {
namespace {

constexpr double kGain = 1e-6;
constexpr int kMostStretches = 80;
constexpr int kStretchesBeyond = 2;
constexpr double kClose = 2;  // keys, up to which steps are small
constexpr double kNear = 8;   // keys that are each looked at; beyond, stretches grow by one part in as many
constexpr int kFewPoints = 4;

// From one key to the next, or over a stretch of several, in the direction of the walk. Close to a key a cusp is steep.
constexpr std::array<double, 11> kSmallSteps = {0.0, 0.02, 0.06, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 0.97};
constexpr std::array<double, 4> kSteps = {0.0, 0.25, 0.5, 0.75};

// The place between two neighbours, one within `allowed` below the maximum and one beyond, where a parabola passes it.
RegionPoint crossing(const RegionPoint& inside, const RegionPoint& outside, double allowed) {
  const double from = std::sqrt(std::max(0.0, inside.drop)), to = std::sqrt(outside.drop);
  const double share = std::clamp(to > from ? (std::sqrt(allowed) - from) / (to - from) : 1.0, 0.0, 1.0);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {{between(inside.point.shape, outside.point.shape), between(inside.point.scale, outside.point.scale),
           between(inside.point.mu, outside.point.mu)},
          allowed};
}

class Walk {
 public:
  Walk(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
       const Maximum& best, double inflation)
      : likelihood_(likelihood),
        queries_(queries),
        typical_(typical_distance),
        search_(search),
        best_(best),
        inflation_(inflation) {
    walk_.points = {{best.point, 0}};
  }

  MuWalk run() {
    for (const double direction : {-1.0, 1.0}) {
      const std::size_t before = walk_.points.size();
      if (!go(direction)) (direction < 0 ? walk_.open_below : walk_.open_above) = true;
      if (walk_.points.size() < before + kFewPoints) fill(before);
    }
    return std::move(walk_);
  }

 private:
  // False where no end was found.
  bool go(double direction) {
    const double at = best_.point.mu;
    const double first_key = direction > 0 ? std::floor(at) : std::ceil(at);
    last_ = from_ = {best_.point, 0};
    double key = 0;  // where the stretch begins
    int stretches_since = 0;
    for (int i = 0; i < kMostStretches && stretches_since < kStretchesBeyond; ++i, ++stretches_since) {
      const double keys = std::max(1.0, std::floor(key / kNear));
      const std::span<const double> steps = key < kClose ? std::span<const double>(kSmallSteps) : kSteps;
      for (const double step : steps) {
        const double mu = first_key + direction * (key + keys * step);
        if (direction * (mu - at) <= 0) continue;
        if (mu < search_.mu_low || mu > search_.mu_high) return last_.drop > kThreeErrors;
        if (look(mu)) stretches_since = 0;
      }
      key += keys;
    }
    return stretches_since >= kStretchesBeyond;
  }

  RegionPoint at(double mu) {
    const Maximum found =
        maximize(likelihood_, queries_, typical_, search_, {from_.point.shape, from_.point.scale, mu});
    if (found.value > best_.value + kGain && (!walk_.better || found.value > walk_.better->value)) {
      walk_.better = found;
    }
    return {found.point, (best_.value - found.value) / inflation_};
  }

  bool look(double mu) {
    const RegionPoint here = at(mu);
    for (const double allowed : {kRatio95, kThreeErrors}) {
      if (last_.drop <= allowed && here.drop > allowed) walk_.points.push_back(crossing(last_, here, allowed));
    }
    last_ = here;
    if (here.drop > kThreeErrors) return false;
    walk_.points.push_back(here);
    from_ = here;
    return true;
  }

  // A side that is narrower than the steps: its `points` from `begin` on are the crossings alone, or little more.
  void fill(std::size_t begin) {
    const double at_mu = best_.point.mu;
    double outermost = at_mu;
    for (std::size_t i = begin; i < walk_.points.size(); ++i) {
      const double mu = walk_.points[i].point.mu;
      if (std::abs(mu - at_mu) > std::abs(outermost - at_mu)) outermost = mu;
    }
    if (outermost == at_mu) return;
    walk_.points.resize(begin);
    last_ = from_ = {best_.point, 0};
    for (int i = 1; i <= kMostStretches; ++i) {
      const bool is_within = look(at_mu + (outermost - at_mu) * i / kFewPoints);
      if (!is_within && i > kFewPoints) break;
    }
  }

  const LikelihoodFunction& likelihood_;
  double queries_, typical_;
  const Search& search_;
  const Maximum& best_;
  double inflation_;
  RegionPoint last_, from_;
  MuWalk walk_;
};

}  // namespace

MuWalk walk_mu(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
               const Maximum& best, double inflation) {
  return Walk(likelihood, queries, typical_distance, search, best, inflation).run();
}

}  // namespace bam::detail
