// What the priors of a model are, as tables.
#pragma once

#include "io/table.h"
#include "model/prior_checkpoint.h"
#include "prior/distribution.h"

namespace bam::eval {

struct PriorView {
  std::string model;           // its digest
  std::string version;         // of the tool
  std::vector<Index> lengths;  // visible keys
  double window_eps = 1e-3;    // of the effective window
};

// The model's prior of a head as it is told: nope is uniform, whatever its shape says.
HeadClass class_of(const ModelPriors& priors, Index layer, Index head);

// A row for each length, layer and head: parameters, class, and where the mass lies, once for b alone, and once for
// z b where SSMax multiplies the prior. Lengths are at most kLongestPrior.
inline constexpr Index kLongestPrior = Index{1} << 26;
std::vector<io::Column> prior_columns();
void write_priors(io::TableWriter& table, const ModelPriors& priors, const PriorView& view);

// A row for each class, and one for all: heads, share, and the least, middle and largest beta.
std::vector<io::Column> prior_class_columns();
void write_prior_classes(io::TableWriter& table, const ModelPriors& priors, const PriorView& view);

// A row for each length, layer, head and distance: b and the probability, about `points` distances to a curve, dense
// where they are small. With SSMax on the prior, of z b.
std::vector<io::Column> prior_curve_columns();
void write_prior_curves(io::TableWriter& table, const ModelPriors& priors, const PriorView& view, Index points);

// "11 local, 4 retrieval, 1 aggressive of 16 heads"
std::string count_classes(const ModelPriors& priors);

}  // namespace bam::eval
