// Priors as tables, so that one tool's answer is another's start.
#pragma once

#include <string>
#include <vector>

#include "io/stream.h"
#include "prior/init.h"

namespace bam {

struct PriorRow {
  Index layer = 0;
  Index head = 0;
  HeadPrior prior;
  Index line = 0;  // of the table, from 1
};

// A tab-separated table with a header row and at least the columns layer, head, shape, scale, loc, in any order. Where
// there is a column `best`, rows that do not say yes there are passed over, so that a table of all families of a fit
// serves as well. Throws Error "NAME:LINE: ...".
std::vector<PriorRow> read_prior_rows(io::ByteSource& source);

// [layers][heads], every head of every layer once. A global prior ([1][heads]) may be repeated for each layer, as
// `show` does, where it is the same in all. Throws Error with `name`.
std::vector<std::vector<HeadPrior>> arrange_priors(const std::vector<PriorRow>& rows, Index layers, Index heads,
                                                   bool global, const std::string& name);

// Both, of a file or "-".
std::vector<std::vector<HeadPrior>> read_prior_table(const std::string& path, Index layers, Index heads, bool global);

}  // namespace bam
