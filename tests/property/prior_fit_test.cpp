// boxes: prior io kernels base
#include "prior/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "prior/distribution.h"
#include "support/catch.h"

using namespace bam;

namespace {

constexpr Index kQueries = 5000;

struct Truth {
  double beta = 1;
  double alpha = 1;
  double mu = 0;

  HeadPrior prior() const { return {beta, -beta * std::log(alpha), loc_of_mu(mu)}; }
};

// alpha as a share of the window, such that neither the tail is empty nor the prior flat.
double alpha_for(double beta, Index window) {
  const std::vector<std::pair<double, double>> shares = {{-1, 10}, {-0.5, 10}, {0.3, 50}, {0.7, 16},
                                                         {1, 8},   {1.5, 5},   {2, 4},    {3, 3}};
  for (const auto& [shape, share] : shares) {
    if (shape == beta) return static_cast<double>(window) / share;
  }
  return static_cast<double>(window) / 8;
}

// Queries that each look at one key, drawn from the prior, a third of them where a document has just begun.
DistanceCounts draw(const Truth& truth, Index window, Rng& rng, std::optional<double> ssmax = {},
                    Index queries = kQueries) {
  DistanceCounts counts(ssmax);
  for (const auto& [visible, share] : std::vector<std::pair<Index, Index>>{{window, 2}, {window / 3, 1}}) {
    std::vector<double> cumulative = prior_probabilities(truth.prior(), visible, counts.factor(visible));
    std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
    std::vector<double> weights(cumulative.size(), 0.0);
    const Index count = queries * share / 3;
    for (Index i = 0; i < count; ++i) {
      const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), rng.uniform());
      weights[static_cast<std::size_t>(std::min<std::ptrdiff_t>(at - cumulative.begin(), std::ssize(weights) - 1))] +=
          1;
    }
    counts.add(weights, static_cast<double>(count));
  }
  return counts;
}

// What became of estimates whose truth is known.
struct Tally {
  struct Parameter {
    Index close = 0;    // within three standard errors
    Index covered = 0;  // by the interval of 95 %
    Index told = 0;     // fits with an interval

    void add(double estimate, const std::optional<FamilyFit::Spread>& spread, double truth) {
      if (!spread) return;
      ++told;
      close += std::abs(estimate - truth) <= 3 * spread->se;
      covered += spread->low <= truth && truth <= spread->high;
    }
  };
  Index fits = 0, endless = 0;
  Parameter beta, alpha, mu;

  void add(const FamilyFit& fit, const Truth& truth) {
    ++fits;
    beta.add(fit.point.shape, fit.beta_spread, truth.beta);
    alpha.add(fit.alpha(), fit.alpha_spread, truth.alpha);
    mu.add(fit.point.mu, fit.mu_spread, truth.mu);
    endless += fit.mu_spread && !std::isfinite(fit.mu_spread->se);
  }
  double share(Index part) const { return static_cast<double>(part) / static_cast<double>(fits); }
};

const FamilyFit& family_of(const HeadFit& head, const std::string& name) {
  const auto at = std::find_if(head.families.begin(), head.families.end(),
                               [&](const FamilyFit& fit) { return fit.family == name; });
  REQUIRE(at != head.families.end());
  return *at;
}

}  // namespace

TEST_CASE("prior fit: 200 draws from each known prior give it back, and its errors are as large as told") {
  const std::vector<Index> windows = {128, 128, 256, 256, 512, 512, 1024, 1024, 2048, 4096};
  for (const double beta : {-1.0, -0.5, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0}) {
    Rng rng(17, static_cast<std::uint64_t>(100 + 10 * beta));
    Tally tally;
    for (std::size_t i = 0; i < 200; ++i) {
      const Index window = windows[i % windows.size()];
      const Truth truth{beta, alpha_for(beta, window), 0};
      const std::string family = beta > 0 ? "ggd" : "relaxed";
      tally.add(fit_head(draw(truth, window, rng), {}, {.families = {family}}).families[0], truth);
    }
    CAPTURE(beta, tally.beta.close, tally.beta.covered, tally.alpha.close, tally.alpha.covered);
    CHECK(tally.share(tally.beta.close) >= 0.95);
    CHECK(tally.share(tally.alpha.close) >= 0.95);
    CHECK(tally.share(tally.beta.covered) >= 0.90);
    CHECK(tally.share(tally.beta.covered) <= 0.99);
    CHECK(tally.share(tally.alpha.covered) >= 0.90);
    CHECK(tally.share(tally.alpha.covered) <= 0.99);
  }
}

// The table of docs/numerics.md, some minutes for each beta: property_prior_fit '[study]'
TEST_CASE("prior fit: how often the truth is found, by beta, with mu held and free", "[.study]") {
  const std::vector<Index> windows = {128, 128, 256, 256, 512, 512, 1024, 1024, 2048, 4096};
  constexpr int kDraws = 200;
  const auto of = [&](double beta, bool free_mu) {
    Rng rng(99, static_cast<std::uint64_t>(100 + 10 * beta));
    Tally tally;
    Index right = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Index window = windows[static_cast<std::size_t>(i) % windows.size()];
      Truth truth{beta, alpha_for(beta, window), 0};
      if (free_mu)
        truth.mu = i % 3 == 0 ? -7.0 : i % 3 == 1 ? -6.4 : -0.03 * static_cast<double>(window) * rng.uniform() - 1;
      const HeadFit head =
          fit_head(draw(truth, window, rng), {}, {.families = {}, .free_mu = free_mu, .all_families = true});
      tally.add(family_of(head, beta > 0 ? "ggd" : "relaxed"), truth);
      const std::string family = beta < 0 ? "relaxed" : beta == 1 ? "laplace" : beta == 2 ? "gaussian" : "ggd";
      right += head.families[head.best].family == family;
    }
    std::printf("beta %g, mu %s:", beta, free_mu ? "free" : "held");
    std::vector<Tally::Parameter> told = {tally.beta, tally.alpha};
    if (free_mu) told.push_back(tally.mu);
    for (const Tally::Parameter& p : told) {
      const double covered = static_cast<double>(p.covered) / static_cast<double>(p.told);
      std::printf("  %.3f %.3f", tally.share(p.close), covered);
      CHECK(tally.share(p.close) >= 0.95);
      CHECK(covered >= 0.90);
      CHECK(covered <= 0.99);
    }
    std::printf("  no interval %ld, endless %ld, right family %ld\n", static_cast<long>(tally.fits - tally.beta.told),
                static_cast<long>(tally.endless), static_cast<long>(right));
  };
  for (const double beta : {-1.0, -0.5, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0}) {
    of(beta, false);
    of(beta, true);
  }
}

TEST_CASE("prior fit: the right family wins by BIC") {
  struct Case {
    double beta;
    const char* family;
  };
  for (const auto& [beta, family] : std::vector<Case>{{-1, "relaxed"},
                                                      {-0.5, "relaxed"},
                                                      {0.3, "ggd"},
                                                      {0.7, "ggd"},
                                                      {1, "laplace"},
                                                      {1.5, "ggd"},
                                                      {2, "gaussian"},
                                                      {3, "ggd"}}) {
    Rng rng(3, static_cast<std::uint64_t>(100 + 10 * beta));
    Index right = 0;
    for (const Index window : {128, 512, 2048}) {
      for (int i = 0; i < 4; ++i) {
        const HeadFit head = fit_head(draw({beta, alpha_for(beta, window), 0}, window, rng), {}, {});
        right += head.families[head.best].family == family;
      }
    }
    CAPTURE(beta, family);
    CHECK(right >= 11);
  }
}

TEST_CASE("prior fit: with SSMax on the prior, the prior before it is found") {
  for (const double beta : {-0.5, 0.7, 1.5}) {
    Rng rng(5, static_cast<std::uint64_t>(100 + 10 * beta));
    Tally tally;
    for (int i = 0; i < 20; ++i) {
      const Truth truth{beta, beta > 0 ? 200.0 : 20.0, 0};
      const DistanceCounts counts = draw(truth, 512, rng, 0.8);
      tally.add(fit_head(counts, {}, {.families = {beta > 0 ? "ggd" : "relaxed"}}).families[0], truth);
    }
    CAPTURE(beta);
    CHECK(tally.beta.close >= 19);
    CHECK(tally.alpha.close >= 19);
  }
}

TEST_CASE("prior fit: a free mu is found, between two keys and on one") {
  // Of 40 draws that are covered with 95 %, fewer than 33 are once in a thousand; the study above has narrower limits.
  constexpr Index kFewestCovered = 33, kFewestClose = 36;
  for (const double mu : {-7.0, -6.4}) {
    for (const double beta : {-1.0, -0.5, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0}) {
      CAPTURE(mu, beta);
      Rng rng(7, static_cast<std::uint64_t>(100 + 10 * beta));
      Tally tally;
      for (int i = 0; i < 40; ++i) {
        const Truth truth{beta, 20, mu};
        const FamilyFit fit =
            fit_head(draw(truth, 256, rng), {}, {.families = {beta > 0 ? "ggd" : "relaxed"}, .free_mu = true})
                .families[0];
        tally.add(fit, truth);
        const auto& spread = fit.mu_spread;
        CHECK((!spread || (spread->low <= fit.point.mu && fit.point.mu <= spread->high)));
      }
      CHECK(tally.beta.close >= kFewestClose);
      CHECK(tally.alpha.close >= kFewestClose);
      CHECK(tally.mu.close >= kFewestClose);
      CHECK(tally.beta.covered >= kFewestCovered);
      CHECK(tally.alpha.covered >= kFewestCovered);
      CHECK(tally.mu.covered >= kFewestCovered);
    }
  }
}

TEST_CASE("prior fit: expected counts give back exactly what they were made from") {
  for (const double beta : {-1.5, -0.4, 0.4, 1.0, 2.5}) {
    DistanceCounts counts;
    const Truth truth{beta, 12, 0};
    for (Index n = 1; n <= 300; ++n) counts.add(prior_probabilities(truth.prior(), n));
    const FamilyFit fit = family_of(fit_head(counts, {}, {}), beta > 0 ? "ggd" : "relaxed");
    CAPTURE(beta);
    CHECK(fit.point.shape == Approx(beta).epsilon(1e-5));
    CHECK(std::exp(-fit.point.scale / fit.point.shape) == Approx(12).epsilon(1e-4));
    CHECK(fit.ks < 1e-6);
  }
}

TEST_CASE(
    "prior fit: errors from groups of independent draws are those of Fisher, and larger where groups hang together") {
  Rng rng(11);
  const Truth truth{0.7, 30, 0};
  std::vector<DistanceCounts> groups, twice;
  DistanceCounts all;
  for (int i = 0; i < 32; ++i) {
    groups.push_back(draw(truth, 300, rng, {}, 600));
    all.add(groups.back());
    // Every draw counted four times: as sure as a quarter of them.
    DistanceCounts heavy;
    for (int k = 0; k < 4; ++k) heavy.add(groups.back());
    twice.push_back(heavy);
  }
  DistanceCounts heavy;
  for (const DistanceCounts& group : twice) heavy.add(group);
  const FitOptions options{.families = {"ggd"}};
  const FamilyFit fisher = fit_head(all, {}, options).families[0];
  const FamilyFit grouped = fit_head(all, groups, options).families[0];
  const FamilyFit dependent = fit_head(heavy, twice, options).families[0];
  CHECK(grouped.beta_spread->se == Approx(fisher.beta_spread->se).epsilon(0.35));
  CHECK(grouped.alpha_spread->se == Approx(fisher.alpha_spread->se).epsilon(0.35));
  CHECK(dependent.beta_spread->se == Approx(grouped.beta_spread->se).epsilon(1e-6));
  CHECK(fit_head(heavy, {}, options).families[0].beta_spread->se == Approx(fisher.beta_spread->se / 2).epsilon(1e-6));
}

TEST_CASE("prior fit: the bootstrap's errors are those of groups, and the same for one seed") {
  Rng rng(29);
  const Truth truth{0.7, 30, 0};
  std::vector<DistanceCounts> groups;
  DistanceCounts all;
  for (int i = 0; i < 24; ++i) {
    groups.push_back(draw(truth, 128, rng, {}, 600));
    all.add(groups.back());
  }
  const auto fit = [&](ErrorKind errors, std::uint64_t seed) {
    return fit_head(all, groups, {.families = {"ggd"}, .errors = errors, .seed = seed}).families[0];
  };
  const FamilyFit grouped = fit(ErrorKind::groups, 0), sampled = fit(ErrorKind::bootstrap, 0);
  CHECK(sampled.errors == ErrorKind::bootstrap);
  CHECK(sampled.point.shape == grouped.point.shape);
  CHECK(sampled.beta_spread->se == Approx(grouped.beta_spread->se).epsilon(0.25));
  CHECK(sampled.alpha_spread->se == Approx(grouped.alpha_spread->se).epsilon(0.25));
  CHECK(fit(ErrorKind::bootstrap, 0).beta_spread->se == sampled.beta_spread->se);
  CHECK(fit(ErrorKind::bootstrap, 1).beta_spread->se != sampled.beta_spread->se);
}

TEST_CASE("prior fit: what cannot be told is said") {
  const auto verdict = [](const DistanceCounts& counts) { return fit_head(counts, {}, {}).verdict; };
  DistanceCounts single;
  single.add(std::vector<double>{1.0});
  CHECK(verdict(single) == "no-data");
  CHECK(verdict(DistanceCounts()) == "no-data");

  DistanceCounts point;
  for (const Index n : {5, 9, 300}) {
    std::vector<double> weights(static_cast<std::size_t>(n), 0.0);
    weights[3] = 1;
    point.add(weights);
  }
  const HeadFit at_three = fit_head(point, {}, {});
  CHECK(at_three.verdict == "point");
  CHECK(at_three.families[0].point.mu == -3);
  CHECK(prior_probabilities(at_three.families[0].prior(), 300)[3] == Approx(0.999).margin(2e-4));

  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -0.25}) {
    DistanceCounts counts;
    counts.add(std::vector<double>{0.5, bad, 0.25});
    const HeadFit head = fit_head(counts, {}, {});
    CHECK(head.verdict == "not-finite");
    CHECK(head.families.empty());
  }

  DistanceCounts endless;
  endless.add_one(9, 4, 1e308);
  endless.add_one(9, 5, 1e308);
  CHECK(verdict(endless) == "not-finite");

  Rng rng(2);
  DistanceCounts uniform;
  for (Index n = 2; n < 200; ++n)
    uniform.add(std::vector<double>(static_cast<std::size_t>(n), 1.0 / static_cast<double>(n)));
  CHECK(verdict(uniform) == "uniform");

  // A handful of draws: nothing is known of the shape.
  CHECK(verdict(draw({0.7, 30, 0}, 300, rng, {}, 30)) != "identified");

  // A power law is the limit of shape 0 and endless scale.
  DistanceCounts power;
  std::vector<double> weights(1000);
  double sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) sum += weights[t] = t == 0 ? 0.0 : 1 / static_cast<double>(t);
  for (double& weight : weights) weight *= 10000 / sum;
  weights[0] = 1e-3;
  power.add(weights, 10000);
  CHECK((verdict(power) == "edge" || verdict(power) == "trade-off" || verdict(power) == "misfit"));

  // Two heaps: no family has them.
  DistanceCounts heaps;
  std::vector<double> two(400, 0.0);
  two[0] = two[399] = 500;
  heaps.add(two, 1000);
  CHECK(verdict(heaps) == "misfit");

  CHECK_THROWS_AS(fit_head(uniform, {}, {.families = {"cauchy"}}), UsageError);
}

TEST_CASE("prior fit: where another mu does as well, that is said") {
  // Of ALiBi, every mu above 0 is the same prior.
  Rng rng(23);
  const HeadFit head = fit_head(draw({1, 16, 0}, 128, rng), {}, {.families = {"laplace"}, .free_mu = true});
  CHECK((head.verdict == "trade-off" || head.verdict == "edge"));
  CHECK(head.families[0].point.scale == Approx(-std::log(16)).epsilon(0.05));
}
