// SkipCounts - how much of attention certified skipping left out.
#pragma once

#include <cstddef>
#include <vector>

namespace bam {

// Pairs of a query and a key: those that a head of a layer may look at, and those that certified skipping left out.
struct SkipCounts {
  std::vector<double> visible;               // [layers]
  std::vector<std::vector<double>> skipped;  // [layers][heads]

  SkipCounts& operator+=(const SkipCounts& more);
  double share() const;  // over all layers and heads; 0 when nothing was visible
  double share(std::size_t layer, std::size_t head) const;
};

}  // namespace bam
