#include "prior/distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/ops/prior.h"

namespace bam {

double prior_logit(const HeadPrior& prior, double distance) {
  const double x = std::abs(distance + mu_of(prior)) + kPriorFloor;
  return std::max(-std::exp(prior.scale) * std::pow(x, prior.shape), kPriorLowest);
}

double mu_of(const HeadPrior& prior) {
  return 2 * std::sinh(prior.loc);
}

std::optional<double> alpha_of(const HeadPrior& prior) {
  if (prior.shape == 0) return std::nullopt;
  return std::exp(-prior.scale / prior.shape);
}

double loc_of_mu(double mu) {
  return std::asinh(mu / 2);
}

HeadClass class_of(double shape) {
  if (shape > 0) return HeadClass::local;
  return shape < -0.6 ? HeadClass::aggressive : HeadClass::retrieval;
}

std::string_view name_of(HeadClass which) {
  constexpr std::array<std::string_view, 4> kNames = {"local", "retrieval", "aggressive", "uniform"};
  return kNames[static_cast<std::size_t>(which)];
}

namespace {

// exp(factor b - largest), and the largest.
double unnormalized(const HeadPrior& prior, double factor, std::span<double> weights) {
  for (std::size_t t = 0; t < weights.size(); ++t) weights[t] = factor * prior_logit(prior, static_cast<double>(t));
  const double largest = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights) weight = std::exp(weight - largest);
  return largest;
}

// Cumulated from the far end, so that a small rest keeps its digits.
Index effective_window(std::span<const double> probabilities, double eps) {
  auto window = static_cast<Index>(probabilities.size());
  double outside = 0;
  for (; window > 0; --window) {
    outside += probabilities[static_cast<std::size_t>(window - 1)];
    if (outside >= eps) break;
  }
  return window;
}

}  // namespace

std::vector<double> prior_probabilities(const HeadPrior& prior, Index visible, double factor) {
  std::vector<double> weights(static_cast<std::size_t>(visible));
  unnormalized(prior, factor, weights);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

MassSummary summarize_prior(const HeadPrior& prior, Index visible, double factor, Index context, double eps) {
  std::vector<double> p(static_cast<std::size_t>(visible));
  MassSummary summary;
  summary.ln_z = unnormalized(prior, factor, p);
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  summary.ln_z += std::log(sum);
  for (double& each : p) each /= sum;

  const auto quantile = [&p](double share) {
    double below = 0;
    for (std::size_t t = 0; t < p.size(); ++t) {
      below += p[t];
      if (below >= share) return static_cast<Index>(t);
    }
    return std::ssize(p) - 1;
  };
  summary.low = quantile(0.05);
  summary.half = quantile(0.5);
  summary.high = quantile(0.95);
  for (auto t = static_cast<std::size_t>(std::min(context, visible)); t < p.size(); ++t) summary.beyond += p[t];
  summary.window = effective_window(p, eps);
  for (const double each : p) summary.entropy -= each > 0 ? each * std::log(each) : 0.0;
  return summary;
}

}  // namespace bam
