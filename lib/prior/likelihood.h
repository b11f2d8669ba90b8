// The likelihood of attention by distance under a prior, and what is counted for it.
//
// A query with n visible keys looks at the distances 0 ... n - 1 with weights w(t) that add up to one. Under a prior
//   p_n(t) = exp(z_n b(t)) / Z_n,   Z_n = sum over t < n of exp(z_n b(t)),   z_n = 1, or s ln n with SSMax on the prior
// so that truncation by causality is part of the model. A query counts as one draw from p_n, spread over its weights:
//   L = sum over queries of (sum_t w(t) z_n b(t) - ln Z_n)
// b does not know the query, so that sum z_n w(t) by distance and the number of queries by n say all that L depends
// on, however many queries there are. Queries with one visible key say nothing and are not counted.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "prior/init.h"

namespace bam {

// The counts of one head.
class DistanceCounts {
 public:
  // ssmax: s of z_n = s ln n; none: z_n = 1.
  explicit DistanceCounts(std::optional<double> ssmax = {}) : ssmax_(ssmax) {}

  // One query: weights [visible] by distance, or the sum over `queries` alike. Weights that are negative or not finite
  // are taken up too, and make is_finite() false.
  void add(std::span<const double> weights, double queries = 1);
  void add(const DistanceCounts& other);
  // `weight` queries that look at one distance alone.
  void add_one(Index visible, Index distance, double weight);

  double factor(Index visible) const { return ssmax_ ? *ssmax_ * std::log(static_cast<double>(visible)) : 1; }
  bool has_ssmax() const { return ssmax_.has_value(); }

  double total() const { return total_; }  // queries
  bool is_finite() const { return finite_ && std::isfinite(total_); }
  Index longest() const { return static_cast<Index>(queries_.empty() ? 0 : queries_.size() - 1); }  // visible keys
  const std::vector<double>& mass() const { return mass_; }        // sum of w by distance, [longest]
  const std::vector<double>& scaled() const { return scaled_; }    // sum of z w by distance, [longest]
  const std::vector<double>& queries() const { return queries_; }  // by visible keys, [longest + 1]

 private:
  void grow(std::size_t visible);

  std::optional<double> ssmax_;
  std::vector<double> mass_, scaled_, queries_;
  double total_ = 0;
  bool finite_ = true;
};

// A prior as the fit sees it: mu itself, not loc.
struct FitPoint {
  double shape = 0;
  double scale = 0;
  double mu = 0;
};

// Parameters in the order shape, scale, mu.
inline constexpr std::size_t kFitParameters = 3;
using FitVector = std::array<double, kFitParameters>;
using FitMatrix = std::array<FitVector, kFitParameters>;

struct Likelihood {
  double value = 0;
  FitVector gradient{};
  FitMatrix information{};  // expected: sum over queries of z^2 cov(db)
  FitMatrix curvature{};    // observed: minus the second derivatives
};

// Repeated evaluation on the same counts.
class LikelihoodFunction {
 public:
  explicit LikelihoodFunction(const DistanceCounts& counts);

  // `second`: also information and curvature. Cost: linear in the longest distance where z is 1; with SSMax that times
  // the number of nodes, at most about 350: the counts by n are put on a grid of n with steps of 2 %, linear in ln n.
  Likelihood operator()(const FitPoint& point, bool second) const;

  // Of the uniform prior.
  double uniform() const;

  // Sum over queries of p_n(t), by distance: what the prior expects where mass() is what was seen. With
  // SSMax it may be longer by a step of the grid.
  std::vector<double> expected_mass(const FitPoint& point) const;

 private:
  struct Node {
    Index visible = 0;
    double factor = 1;
    double queries = 0;
  };
  struct Terms;
  std::vector<Terms> terms(const FitPoint& point, bool second) const;
  // body(node, moments of the distances that its queries see)
  template <typename Body>
  void for_each_node(const std::vector<Terms>& all, bool second, Body&& body) const;

  const DistanceCounts& counts_;
  std::vector<Node> nodes_;
};

}  // namespace bam
