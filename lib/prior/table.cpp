#include "prior/table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/table_reader.h"

namespace bam {
namespace {

// Far above any model: what is really there is said by arrange_priors.
constexpr Index kMostPlaces = Index{1} << 20;

double finite(const io::TableReader& table, std::size_t column) {
  const double value = table.real(column);
  if (!std::isfinite(value)) table.fail("'" + std::string(table.text(column)) + "' is not finite, expected a number");
  return value;
}

}  // namespace

std::vector<PriorRow> read_prior_rows(io::ByteSource& source) {
  io::TableReader table(source, {"layer", "head", "shape", "scale", "loc"}, {"best"});
  std::vector<PriorRow> rows;
  while (table.next()) {
    if (table.has(5) && table.text(5) != "yes") continue;
    rows.push_back({.layer = table.index(0, 0, kMostPlaces),
                    .head = table.index(1, 0, kMostPlaces),
                    .prior = {.shape = finite(table, 2), .scale = finite(table, 3), .loc = finite(table, 4)},
                    .line = table.line()});
  }
  return rows;
}

std::vector<std::vector<HeadPrior>> arrange_priors(const std::vector<PriorRow>& rows, Index layers, Index heads,
                                                   bool global, const std::string& name) {
  const Index sets = global ? 1 : layers;
  std::vector<std::vector<HeadPrior>> priors(static_cast<std::size_t>(sets),
                                             std::vector<HeadPrior>(static_cast<std::size_t>(heads)));
  std::vector<Index> line_of(static_cast<std::size_t>(sets * heads), 0);
  std::vector<bool> seen(static_cast<std::size_t>(layers * heads), false);
  for (const PriorRow& row : rows) {
    const std::string where = name + ":" + std::to_string(row.line) + ": ";
    if (row.layer >= layers || row.head >= heads) {
      throw Error(where + "no such layer and head, the model has " + std::to_string(layers) + " layers of " +
                  std::to_string(heads) + " heads");
    }
    const auto place = static_cast<std::size_t>(row.layer * heads + row.head);
    if (seen[place]) throw Error(where + "layer and head appear twice, expected a row for each");
    seen[place] = true;
    const auto set = static_cast<std::size_t>(global ? 0 : row.layer);
    const auto head = static_cast<std::size_t>(row.head);
    Index& line = line_of[set * static_cast<std::size_t>(heads) + head];
    if (line > 0 && priors[set][head] != row.prior) {
      throw Error(where + "another prior than in line " + std::to_string(line) +
                  ", expected the same in all layers: the model's prior is global");
    }
    line = row.line;
    priors[set][head] = row.prior;
  }
  const auto missing = std::find(line_of.begin(), line_of.end(), 0);
  if (missing != line_of.end()) {
    const Index place = missing - line_of.begin();
    throw Error(name + ": no prior for layer " + std::to_string(place / heads) + " head " +
                std::to_string(place % heads) + ", expected a row for each");
  }
  return priors;
}

std::vector<std::vector<HeadPrior>> read_prior_table(const std::string& path, Index layers, Index heads, bool global) {
  const auto source = io::open_source(path);
  return arrange_priors(read_prior_rows(*source), layers, heads, global, source->name());
}

}  // namespace bam
