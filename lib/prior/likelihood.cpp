#include "prior/likelihood.h"

#include <algorithm>
#include <limits>

#include "kernels/ops/prior.h"

namespace bam {
namespace {

// Where the grid of n begins, and its step.
constexpr Index kExactVisible = 50;
constexpr double kGridRatio = 1.02;

// Index pairs of a symmetric matrix.
constexpr std::array<std::array<std::size_t, 2>, 6> kPairs = {{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}};

}  // namespace

void DistanceCounts::grow(std::size_t visible) {
  if (mass_.size() >= visible) return;
  mass_.resize(visible, 0.0);
  scaled_.resize(visible, 0.0);
  queries_.resize(visible + 1, 0.0);
}

void DistanceCounts::add_one(Index visible, Index distance, double weight) {
  if (visible < 2) return;
  grow(static_cast<std::size_t>(visible));
  mass_[static_cast<std::size_t>(distance)] += weight;
  scaled_[static_cast<std::size_t>(distance)] += factor(visible) * weight;
  queries_[static_cast<std::size_t>(visible)] += weight;
  total_ += weight;
  finite_ = finite_ && std::isfinite(weight) && weight >= 0;
}

void DistanceCounts::add(std::span<const double> weights, double queries) {
  const std::size_t visible = weights.size();
  if (visible < 2) return;
  grow(visible);
  const double z = factor(static_cast<Index>(visible));
  double sum = 0;
  for (std::size_t t = 0; t < visible; ++t) {
    finite_ = finite_ && std::isfinite(weights[t]) && weights[t] >= 0;
    mass_[t] += weights[t];
    scaled_[t] += z * weights[t];
    sum += weights[t];
  }
  finite_ = finite_ && std::isfinite(sum) && std::isfinite(queries) && queries >= 0;
  queries_[visible] += queries;
  total_ += queries;
}

void DistanceCounts::add(const DistanceCounts& other) {
  const auto add_to = [](std::vector<double>& to, const std::vector<double>& from) {
    if (to.size() < from.size()) to.resize(from.size(), 0.0);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  add_to(mass_, other.mass_);
  add_to(scaled_, other.scaled_);
  add_to(queries_, other.queries_);
  total_ += other.total_;
  finite_ = finite_ && other.finite_;
}

// b at one distance and its derivatives by shape, scale, mu.
struct LikelihoodFunction::Terms {
  double b = 0;
  FitVector d{};
  std::array<double, kPairs.size()> dd{};
};

LikelihoodFunction::LikelihoodFunction(const DistanceCounts& counts) : counts_(counts) {
  const std::vector<double>& queries = counts.queries();
  const auto put = [&](Index visible, double share) {
    if (share == 0) return;
    if (nodes_.empty() || nodes_.back().visible != visible) {
      nodes_.push_back({visible, counts.factor(visible), 0});
    }
    nodes_.back().queries += share;
  };
  // Pairs of neighbouring nodes, with what lies between them.
  Index low = 2;
  double carried = 0;  // for `low`
  while (low <= counts.longest()) {
    Index high = low + 1;
    if (counts.has_ssmax() && low >= kExactVisible) {
      high = std::max(high, static_cast<Index>(static_cast<double>(low) * kGridRatio));
    }
    double here = carried + queries[static_cast<std::size_t>(low)];
    double next = 0;
    const double width = std::log(static_cast<double>(high) / static_cast<double>(low));
    for (Index n = low + 1; n < high && n <= counts.longest(); ++n) {
      const double share = std::log(static_cast<double>(n) / static_cast<double>(low)) / width;
      here += (1 - share) * queries[static_cast<std::size_t>(n)];
      next += share * queries[static_cast<std::size_t>(n)];
    }
    put(low, here);
    carried = next;
    low = high;
  }
  if (carried > 0) put(low, carried);
}

std::vector<LikelihoodFunction::Terms> LikelihoodFunction::terms(const FitPoint& point, bool second) const {
  const Index count = nodes_.empty() ? 0 : nodes_.back().visible;
  std::vector<Terms> all(static_cast<std::size_t>(count));
  const double height = std::exp(point.scale);
  for (std::size_t t = 0; t < all.size(); ++t) {
    const double from_mode = static_cast<double>(t) + point.mu;
    const double x = std::abs(from_mode) + kPriorFloor;
    const double ln_x = std::log(x);
    const double b = -height * std::exp(point.shape * ln_x);
    Terms& each = all[t];
    each.b = b;
    if (!(b >= kPriorLowest)) {
      each.b = kPriorLowest;
      continue;  // clamped: derivatives 0
    }
    const double sign = from_mode > 0 ? 1.0 : from_mode < 0 ? -1.0 : 0.0;
    each.d = {b * ln_x, b, b * point.shape / x * sign};
    if (!second) continue;
    each.dd = {b * ln_x * ln_x,
               b * ln_x,
               b / x * sign * (1 + point.shape * ln_x),
               b,
               b * point.shape / x * sign,
               b * point.shape * (point.shape - 1) / (x * x) * sign * sign};
  }
  return all;
}

namespace {

// Sums of exp(z b - top) times 1, z db, z^2 db db', z ddb over the distances seen so far.
struct Moments {
  double top = -std::numeric_limits<double>::infinity();
  double sum = 0;
  FitVector d{};
  std::array<double, kPairs.size()> dd{}, second{};

  void rescale(double to) {
    const double by = std::exp(top - to);
    top = to;
    sum *= by;
    for (double& each : d) each *= by;
    for (double& each : dd) each *= by;
    for (double& each : second) each *= by;
  }

  template <typename Terms>
  void take(const Terms& terms, double z, bool with_second) {
    const double logit = z * terms.b;
    if (logit > top) rescale(logit);
    const double w = std::exp(logit - top);
    if (w == 0) return;  // or 0 times what has overflowed
    sum += w;
    for (std::size_t i = 0; i < kFitParameters; ++i) d[i] += w * z * terms.d[i];
    if (!with_second) return;
    for (std::size_t p = 0; p < kPairs.size(); ++p) {
      dd[p] += w * z * z * terms.d[kPairs[p][0]] * terms.d[kPairs[p][1]];
      second[p] += w * z * terms.dd[p];
    }
  }

  // Of `queries` queries that see these distances.
  void subtract_from(Likelihood& to, double queries, bool with_second) const {
    to.value -= queries * (top + std::log(sum));
    for (std::size_t i = 0; i < kFitParameters; ++i) to.gradient[i] -= queries * d[i] / sum;
    if (!with_second) return;
    for (std::size_t p = 0; p < kPairs.size(); ++p) {
      const auto [i, j] = kPairs[p];
      const double covariance = queries * (dd[p] / sum - d[i] / sum * d[j] / sum);
      to.information[i][j] += covariance;
      to.curvature[i][j] += covariance + queries * second[p] / sum;
    }
  }
};

void mirror(FitMatrix& m) {
  for (const auto& [i, j] : kPairs) m[j][i] = m[i][j];
}

}  // namespace

// Nodes see more and more distances, so that without SSMax each goes on from the moments of the one before; SSMax gives
// every node a factor of its own.
template <typename Body>
void LikelihoodFunction::for_each_node(const std::vector<Terms>& all, bool second, Body&& body) const {
  Moments moments;
  std::size_t done = 0;
  for (const Node& node : nodes_) {
    if (counts_.has_ssmax()) {
      moments = {};
      done = 0;
    }
    for (; done < static_cast<std::size_t>(node.visible); ++done) moments.take(all[done], node.factor, second);
    body(node, moments);
  }
}

Likelihood LikelihoodFunction::operator()(const FitPoint& point, bool second) const {
  const std::vector<Terms> all = terms(point, second);
  Likelihood result;
  const std::vector<double>& scaled = counts_.scaled();
  for (std::size_t t = 0; t < scaled.size(); ++t) {
    if (scaled[t] == 0) continue;
    result.value += scaled[t] * all[t].b;
    for (std::size_t i = 0; i < kFitParameters; ++i) result.gradient[i] += scaled[t] * all[t].d[i];
    for (std::size_t p = 0; second && p < kPairs.size(); ++p) {
      result.curvature[kPairs[p][0]][kPairs[p][1]] -= scaled[t] * all[t].dd[p];
    }
  }
  for_each_node(all, second,
                [&](const Node& node, const Moments& moments) { moments.subtract_from(result, node.queries, second); });
  mirror(result.information);
  mirror(result.curvature);
  return result;
}

double LikelihoodFunction::uniform() const {
  double value = 0;
  for (const Node& node : nodes_) value -= node.queries * std::log(static_cast<double>(node.visible));
  return value;
}

std::vector<double> LikelihoodFunction::expected_mass(const FitPoint& point) const {
  const std::vector<Terms> all = terms(point, false);
  std::vector<double> mass(all.size(), 0.0);
  std::vector<double> ln_z;  // by node
  for_each_node(all, false, [&](const Node& node, const Moments& moments) {
    ln_z.push_back(moments.top + std::log(moments.sum));
    for (std::size_t t = 0; counts_.has_ssmax() && t < static_cast<std::size_t>(node.visible); ++t) {
      mass[t] += node.queries * std::exp(node.factor * all[t].b - ln_z.back());
    }
  });
  if (counts_.has_ssmax()) return mass;
  // Z_n grows with n: from the far end, each sum is kept relative to the latest Z.
  double sum = 0;
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    if (k + 1 < nodes_.size()) sum *= std::exp(ln_z[k] - ln_z[k + 1]);
    sum += nodes_[k].queries;
    const auto begin = static_cast<std::size_t>(k > 0 ? nodes_[k - 1].visible : 0);
    for (std::size_t t = begin; t < static_cast<std::size_t>(nodes_[k].visible); ++t) {
      mass[t] = sum * std::exp(all[t].b - ln_z[k]);
    }
  }
  return mass;
}

}  // namespace bam
