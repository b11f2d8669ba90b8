#include "eval/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bam::eval {

Interval wilson_interval(Index successes, Index trials) {
  if (trials == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5 % point
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double z2 = kZ * kZ / n;
  const double center = (p + z2 / 2) / (1 + z2);
  const double half = kZ * std::sqrt(p * (1 - p) / n + z2 / (4 * n)) / (1 + z2);
  return {successes == 0 ? 0.0 : std::max(0.0, center - half),
          successes == trials ? 1.0 : std::min(1.0, center + half)};
}

void GroupedMean::add_group(double sum, Index count) {
  if (count == 0) return;
  sum_ += sum;
  count_ += count;
  ++groups_;
  const auto n = static_cast<double>(count);
  const double weight = n * n;
  const double delta = sum / n - weighted_mean_;
  weight_ += weight;
  weighted_mean_ += delta * weight / weight_;
  weighted_squares_ += weight * delta * (sum / n - weighted_mean_);
}

double GroupedMean::mean() const {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / static_cast<double>(count_);
}

std::optional<double> GroupedMean::standard_error() const {
  if (groups_ < 2) return std::nullopt;
  const double offset = weighted_mean_ - mean();
  const double squares = weighted_squares_ + weight_ * offset * offset;
  const auto g = static_cast<double>(groups_);
  return std::sqrt(g / (g - 1) * squares) / static_cast<double>(count_);
}

}  // namespace bam::eval
