#include "prior/maximize.h"

#include <nlopt.h>

#include <algorithm>
#include <memory>

#include "prior/linear.h"

namespace bam::detail {
namespace {

// The search runs over (shape, u, mu / typical distance) with u = scale + shape ln(typical distance), the logarithm of
// |b| there: shape and scale alone are nearly collinear, and a step in one would throw the other away.
class Problem {
 public:
  Problem(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search,
          const FitPoint& start)
      : likelihood_(likelihood), queries_(queries), ln_typical_(std::log(typical_distance)), fixed_(start) {
    if (search.free_shape) add(0, search.shape_low, search.shape_high);
    add(1, kFaintest, kSteepest);
    if (search.free_mu) add(2, search.mu_low / typical_distance, search.mu_high / typical_distance);
    jacobian_ = {{{1, -ln_typical_, 0}, {0, 1, 0}, {0, 0, typical_distance}}};
  }

  std::size_t size() const { return which_.size(); }
  const std::vector<double>& low() const { return low_; }
  const std::vector<double>& high() const { return high_; }

  FitPoint point(const double* x) const {
    FitVector v = {fixed_.shape, 0, fixed_.mu};
    for (std::size_t i = 0; i < size(); ++i) v[which_[i]] = x[i] * (which_[i] == 2 ? jacobian_[2][2] : 1.0);
    return {v[0], v[1] - v[0] * ln_typical_, v[2]};
  }

  std::vector<double> coordinates(const FitPoint& point) const {
    const FitVector v = {point.shape, point.scale + point.shape * ln_typical_, point.mu / jacobian_[2][2]};
    std::vector<double> x;
    for (std::size_t i = 0; i < size(); ++i) x.push_back(std::clamp(v[which_[i]], low_[i], high_[i]));
    return x;
  }

  // By query, so that tolerances mean the same for few and for many.
  double value(const double* x, double* gradient) const {
    const Likelihood l = likelihood_(point(x), false);
    for (std::size_t i = 0; gradient != nullptr && i < size(); ++i) {
      gradient[i] = 0;
      for (std::size_t a = 0; a < kFitParameters; ++a)
        gradient[i] += jacobian_[which_[i]][a] * l.gradient[a] / queries_;
    }
    return l.value / queries_;
  }

  struct Step {
    double value = 0;  // of the log likelihood before the step
    double gain = 0;   // what a parabola promises
    std::vector<double> next;
  };

  // One Newton step; empty where the curvature is not that of a maximum or the step leads out of the bounds.
  std::optional<Step> newton(const std::vector<double>& x) const {
    const Likelihood l = likelihood_(point(x.data()), true);
    SmallMatrix curvature(size());
    std::vector<double> gradient(size(), 0.0);
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t a = 0; a < kFitParameters; ++a) {
        gradient[i] += jacobian_[which_[i]][a] * l.gradient[a];
        for (std::size_t j = 0; j < size(); ++j) {
          for (std::size_t b = 0; b < kFitParameters; ++b) {
            curvature(i, j) += jacobian_[which_[i]][a] * jacobian_[which_[j]][b] * l.curvature[a][b];
          }
        }
      }
    }
    const std::optional<SmallMatrix> inverse = inverse_of_positive(curvature);
    if (!inverse) return std::nullopt;
    Step step{l.value, 0, x};
    for (std::size_t i = 0; i < size(); ++i) {
      double move = 0;
      for (std::size_t j = 0; j < size(); ++j) move += (*inverse)(i, j) * gradient[j];
      step.next[i] += move;
      step.gain += gradient[i] * move / 2;
      if (!(step.next[i] >= low_[i] && step.next[i] <= high_[i])) return std::nullopt;
    }
    return step;
  }

 private:
  void add(std::size_t which, double low, double high) {
    which_.push_back(which);
    low_.push_back(low);
    high_.push_back(high);
  }

  const LikelihoodFunction& likelihood_;
  double queries_, ln_typical_;
  FitPoint fixed_;
  FitMatrix jacobian_{};  // rows: d(shape, scale, mu) by a step in each coordinate
  std::vector<std::size_t> which_;
  std::vector<double> low_, high_;
};

double minus_value(unsigned, const double* x, double* gradient, void* data) {
  const auto& problem = *static_cast<const Problem*>(data);
  const double value = problem.value(x, gradient);
  for (std::size_t i = 0; gradient != nullptr && i < problem.size(); ++i) gradient[i] = -gradient[i];
  return -value;
}

// SLSQP gives its best point even where rounding ends it, and that is all that is asked of it.
void search(Problem& problem, std::vector<double>& x) {
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
      nlopt_create(NLOPT_LD_SLSQP, static_cast<unsigned>(problem.size())), &nlopt_destroy);
  nlopt_set_min_objective(optimizer.get(), minus_value, &problem);
  nlopt_set_lower_bounds(optimizer.get(), problem.low().data());
  nlopt_set_upper_bounds(optimizer.get(), problem.high().data());
  nlopt_set_ftol_abs(optimizer.get(), 1e-10);
  nlopt_set_maxeval(optimizer.get(), 200);
  const std::vector<double> start = x;
  double best = 0;
  nlopt_optimize(optimizer.get(), x.data(), &best);
  const double at_start = problem.value(start.data(), nullptr);
  const double reached = problem.value(x.data(), nullptr);
  if (!(reached >= at_start)) x = start;
}

// Newton's steps from a start that is nearly there; empty where it is not, or they lead nowhere. The log likelihood.
std::optional<double> polish(const Problem& problem, std::vector<double>& x) {
  constexpr int kMostSteps = 6;
  constexpr double kNear = 20;
  constexpr double kThere = 1e-8;
  std::optional<double> begun;
  for (int i = 0; i < kMostSteps; ++i) {
    const auto step = problem.newton(x);
    if (!step || !(step->gain < kNear)) return std::nullopt;
    if (!begun) begun = step->value;
    if (step->gain < kThere) return step->value >= *begun - kThere ? std::optional(step->value) : std::nullopt;
    x = step->next;
  }
  return std::nullopt;
}

}  // namespace

Maximum maximize(const LikelihoodFunction& likelihood, double queries, double typical_distance, const Search& search_in,
                 const FitPoint& start) {
  Problem problem(likelihood, queries, typical_distance, search_in, start);
  const std::vector<double> begin = problem.coordinates(start);
  std::vector<double> x = begin;
  std::optional<double> value = polish(problem, x);
  if (!value) {
    x = begin;
    search(problem, x);
    value = problem.value(x.data(), nullptr) * queries;
    for (int i = 0; i < 8; ++i) {
      const auto step = problem.newton(x);
      if (!step) break;
      const double reached = problem.value(step->next.data(), nullptr) * queries;
      if (!(reached > *value)) break;
      x = step->next;
      value = reached;
    }
  }
  bool at_edge = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double margin = 1e-6 * (problem.high()[i] - problem.low()[i]);
    at_edge = at_edge || x[i] < problem.low()[i] + margin || x[i] > problem.high()[i] - margin;
  }
  return {problem.point(x.data()), *value, at_edge};
}

}  // namespace bam::detail
