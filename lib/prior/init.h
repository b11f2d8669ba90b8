// Where a model's positional priors start. One HeadPrior per head, in the stored (unconstrained) parameters of
// ops/prior.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace bam {

struct HeadPrior {
  double shape = 1;  // beta
  double scale = 0;  // ln of the factor before x^shape; alpha = exp(-scale / shape)
  double loc = 0;    // mu = 2 sinh(loc)
  friend bool operator==(const HeadPrior&, const HeadPrior&) = default;
};

// ALiBi's slopes (arXiv 2108.12409): r, r^2, ... with r = 2^(-8/heads) for a power of two; otherwise the slopes of the
// largest power of two P below, then every second slope of 2P.
std::vector<double> alibi_slopes(Index heads);

// The authors' start: shape 1, scale = ln(slope), loc 0, which is ALiBi to the floor of ops/prior.h.
std::vector<HeadPrior> authors_prior(Index heads);

// Heads with a role from the first step. A quarter retrieve (shape -1: the nearest keys are suppressed, all that is
// far weighs nearly alike). Half look exactly 1, 2, 3, ..., at most 8 tokens back (mu = -k, shape 1). The others are
// local (mu = 0, slopes 1/2, 1/16, 1/128, closer together where they would pass ALiBi's least, 1/256). A single head
// starts as the authors'.
std::vector<HeadPrior> spread_prior(Index heads);

// Values by head from a specification: a number, a list of `heads` numbers, "slopes" (ln of ALiBi's slopes),
// "linear:A:B" (from A to B over the heads), "normal:MEAN:SD" (seeded).  Throws UsageError.
std::vector<double> values_by_head(std::string_view specification, Index heads, std::uint64_t seed);

// Specifications of values_by_head, each of its own for the shapes, scales and locations; empty: as they are.
struct PriorFormulas {
  std::string shape, scale, loc;
};

// Replaces what the formulas name in each of `priors` [sets][heads]; random values differ from set to set. Throws
// UsageError "--shape-init: ...", since all tools call these options so.
void apply_formulas(const PriorFormulas& formulas, std::uint64_t seed, std::vector<std::vector<HeadPrior>>& priors);

}  // namespace bam
