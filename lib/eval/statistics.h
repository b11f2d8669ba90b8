// What a result row says about its own certainty.
#pragma once

#include <optional>
#include <utility>

#include "base/types.h"

namespace bam::eval {

struct Interval {
  double low = 0;
  double high = 0;
};

// Wilson's 95 % interval of a proportion. trials > 0; [0, 1] for none.
Interval wilson_interval(Index successes, Index trials);

// Mean of values that come in groups (the tokens of a window), and its standard error with the groups as the
// independent draws: neighbouring tokens are not independent, and an error by token would be too small.
class GroupedMean {
 public:
  void add_group(double sum, Index count);  // groups without values are passed over

  double sum() const { return sum_; }
  Index count() const { return count_; }
  Index groups() const { return groups_; }

  double mean() const;  // NaN without values
  // Linearised for the ratio of sums, with the factor groups / (groups - 1). None below two groups.
  std::optional<double> standard_error() const;

 private:
  double sum_ = 0;
  Index count_ = 0;
  Index groups_ = 0;
  // Group means weighted by count squared, as Welford does it: differences of large sums would lose all digits where
  // the groups are alike.
  double weight_ = 0;
  double weighted_mean_ = 0;
  double weighted_squares_ = 0;
};

}  // namespace bam::eval
