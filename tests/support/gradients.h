// Central differences: what a gradient must agree with.
#pragma once

#include <algorithm>
#include <cmath>

#include "support/catch.h"
#include "support/values.h"

namespace bam::test {

inline double dot(const Values& x, const Values& y) {
  double sum = 0;
  for (Index i = 0; i < x.count(); ++i) sum += x[i] * y[i];
  return sum;
}

// loss() reads x; every entry of `gradient` must be its derivative to 1e-6 of the largest. With steps of h the
// differences are off by h^2 of the third derivative and by 1e-16 / h of the loss: 1e-5 is between the two.
template <typename Loss>
void check_gradient(const char* name, Values& x, const Values& gradient, Loss&& loss, double step = 1e-5) {
  REQUIRE(gradient.count() == x.count());
  double largest = 0;
  for (const double each : gradient.at) largest = std::max(largest, std::abs(each));
  CHECK(largest > 0);
  for (Index i = 0; i < x.count(); ++i) {
    const double here = x[i];
    x[i] = here + step;
    const double above = loss();
    x[i] = here - step;
    const double below = loss();
    x[i] = here;
    INFO("derivative by " << name << " at " << i);
    CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-6 * largest));
  }
}

}  // namespace bam::test
