// boxes: prior io kernels base
#include "prior/table.h"

#include <cmath>

#include "base/error.h"
#include "io/table_reader.h"
#include "prior/distribution.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bam;
using namespace bam::test;

namespace {

std::vector<PriorRow> rows_of(const std::string& text) {
  const auto source = io::source_from_memory("p.tsv", text);
  return read_prior_rows(*source);
}

const std::string kHeader = "head\tnote\tlayer\tshape\tscale\tloc\n";

}  // namespace

TEST_CASE("prior table: columns are found by name, and rows that are not the best are passed over") {
  const auto rows = rows_of(kHeader + "1\tx\t0\t-0.5\t2\t0.25\n0\ty\t1\t1\t-1e-3\t0\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].layer == 0);
  CHECK(rows[0].head == 1);
  CHECK(rows[0].prior == HeadPrior{-0.5, 2, 0.25});
  CHECK(rows[1].line == 3);
  const auto best = rows_of("layer\thead\tbest\tshape\tscale\tloc\n0\t0\tno\tnan\t\t\n0\t0\tyes\t1\t2\t3\n");
  REQUIRE(best.size() == 1);
  CHECK(best[0].prior == HeadPrior{1, 2, 3});
}

TEST_CASE("prior table: what is wrong is said with its line") {
  const auto error = [](const std::string& text) { return error_of([&] { rows_of(text); }); };
  CHECK(error("") == "p.tsv: empty, expected a tab-separated table");
  CHECK(contains(error("layer\thead\tshape\tscale\n"), "p.tsv:1: no column 'loc'"));
  CHECK(contains(error(kHeader + "0\tx\t0\t1\t0\n"), "p.tsv:2: 5 cells, expected 6"));
  CHECK(contains(error(kHeader + "0\tx\t0\tone\t0\t0\n"), "p.tsv:2: 'one' is not a number"));
  CHECK(contains(error(kHeader + "0\tx\t0\tnan\t0\t0\n"), "p.tsv:2: 'nan' is not finite"));
  CHECK(contains(error(kHeader + "0\tx\t0\t\t0\t0\n"), "p.tsv:2: '' is not a number"));
  CHECK(contains(error(kHeader + "0.5\tx\t0\t1\t0\t0\n"), "p.tsv:2: head is 0.5, expected a whole number"));
  CHECK(contains(error(kHeader + "-1\tx\t0\t1\t0\t0\n"), "p.tsv:2: head is -1"));
}

TEST_CASE("prior table: every head once, and a global prior the same in all layers") {
  const std::string two = "layer\thead\tshape\tscale\tloc\n0\t0\t1\t2\t3\n0\t1\t4\t5\t6\n";
  const auto arranged = arrange_priors(rows_of(two), 1, 2, false, "p.tsv");
  REQUIRE(arranged.size() == 1);
  CHECK(arranged[0][1] == HeadPrior{4, 5, 6});
  const auto error = [](const std::string& text, Index layers, bool global) {
    return error_of([&] { arrange_priors(rows_of(text), layers, 2, global, "p.tsv"); });
  };
  CHECK(contains(error(two, 2, false), "p.tsv: no prior for layer 1 head 0"));
  CHECK(contains(error(two + "0\t1\t4\t5\t6\n", 1, false), "p.tsv:4: layer and head appear twice"));
  CHECK(contains(error(two + "0\t2\t4\t5\t6\n", 1, false), "p.tsv:4: no such layer and head"));
  CHECK(error(two + "1\t1\t4\t5\t6\n", 2, true) == "no error");
  CHECK(contains(error(two + "1\t1\t4\t5\t7\n", 2, true), "p.tsv:4: another prior than in line 3"));
}

TEST_CASE("prior distribution: mass, quantiles and classes of priors that can be worked out by hand") {
  const HeadPrior alibi{1, std::log(std::log(2.0)), 0};  // each token further halves the weight
  const MassSummary mass = summarize_prior(alibi, 1000, 1, 3, 1e-3);
  CHECK(mass.half == 0);
  CHECK(mass.low == 0);
  CHECK(mass.high == 4);                              // 1 - 2^-5
  CHECK(mass.beyond == Approx(0.125).epsilon(1e-4));  // 2^-3
  CHECK(mass.window == 10);                           // 2^-10 < 1e-3 < 2^-9
  CHECK(mass.ln_z == Approx(std::log(2.0)).epsilon(1e-4));
  CHECK(mass.entropy == Approx(2 * std::log(2.0)).epsilon(1e-4));
  // Twice the factor: a quarter at each step.
  CHECK(summarize_prior(alibi, 1000, 2, 3, 1e-3).window == 5);

  const MassSummary flat = summarize_prior({0, 0, 0}, 100, 1, 60, 1e-3);
  CHECK(flat.half == 49);
  CHECK(flat.beyond == Approx(0.4));
  CHECK(flat.window == 100);
  CHECK(flat.entropy == Approx(std::log(100.0)));

  // Shape far below 0: the floor is clamped, and one visible key has everything.
  CHECK(summarize_prior({-12, 0, 0}, 1, 1, 1, 1e-3).half == 0);
  CHECK(prior_probabilities({-12, 0, 0}, 50)[0] == 0);

  CHECK(class_of(0.01) == HeadClass::local);
  CHECK(class_of(0) == HeadClass::retrieval);
  CHECK(class_of(-0.6) == HeadClass::retrieval);
  CHECK(class_of(-0.61) == HeadClass::aggressive);
  CHECK(!alpha_of({0, 1, 0}));
  CHECK(*alpha_of({2, -2, 0}) == Approx(std::exp(1.0)));
  CHECK(mu_of({1, 0, loc_of_mu(-3)}) == Approx(-3));
}
