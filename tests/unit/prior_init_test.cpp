// boxes: prior io kernels base
#include "prior/init.h"

#include <cmath>

#include "support/catch.h"

using namespace bam;

namespace {

double mu(const HeadPrior& prior) {
  return 2 * std::sinh(prior.loc);
}

}  // namespace

TEST_CASE("prior init: the authors' start is ALiBi") {
  const std::vector<HeadPrior> priors = authors_prior(16);
  REQUIRE(priors.size() == 16);
  for (std::size_t h = 0; h < 16; ++h) {
    CHECK(priors[h].shape == 1);
    CHECK(priors[h].loc == 0);
    CHECK(std::exp(priors[h].scale) == Approx(std::exp2(-0.5 * static_cast<double>(h + 1))));
  }
}

TEST_CASE("prior init: spread over eight heads") {
  const std::vector<HeadPrior> priors = spread_prior(8);
  REQUIRE(priors.size() == 8);
  for (std::size_t h = 0; h < 4; ++h) {
    CHECK(mu(priors[h]) == Approx(-static_cast<double>(h + 1)));
    CHECK(priors[h].shape == 1);
    CHECK(priors[h].scale == 0);
  }
  for (std::size_t h = 4; h < 6; ++h) {
    CHECK(std::exp(priors[h].scale) == Approx(std::exp2(-1.0 - 3.0 * static_cast<double>(h - 4))));
    CHECK(priors[h].shape == 1);
    CHECK(priors[h].loc == 0);
  }
  for (std::size_t h = 6; h < 8; ++h) {
    CHECK(priors[h].shape == -1);
    CHECK(priors[h].scale == 0);
    CHECK(priors[h].loc == 0);
  }
}

TEST_CASE("prior init: spread over any number of heads") {
  CHECK(spread_prior(1).front().scale == authors_prior(1).front().scale);
  for (Index heads = 2; heads <= 200; ++heads) {
    INFO(heads);
    const std::vector<HeadPrior> priors = spread_prior(heads);
    REQUIRE(std::ssize(priors) == heads);
    Index retrieval = 0;
    Index previous = 0;
    double last_slope = 1;
    for (const HeadPrior& prior : priors) {
      if (prior.shape < 0) {
        ++retrieval;
      } else if (prior.loc != 0) {
        CHECK(mu(prior) == Approx(-static_cast<double>(++previous)));
      } else {
        const double slope = std::exp(prior.scale);
        CHECK(slope < last_slope);
        CHECK(slope > std::exp2(-8.001));
        last_slope = slope;
      }
    }
    CHECK(retrieval == std::max<Index>(1, heads / 4));
    CHECK(previous >= 1);
    CHECK(previous <= 8);
  }
}
