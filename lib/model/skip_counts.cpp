#include "model/skip_counts.h"

#include <algorithm>
#include <numeric>

namespace bam {

SkipCounts& SkipCounts::operator+=(const SkipCounts& more) {
  visible.resize(std::max(visible.size(), more.visible.size()));
  skipped.resize(visible.size());
  for (std::size_t layer = 0; layer < more.visible.size(); ++layer) {
    visible[layer] += more.visible[layer];
    skipped[layer].resize(more.skipped[layer].size());
    for (std::size_t head = 0; head < skipped[layer].size(); ++head) skipped[layer][head] += more.skipped[layer][head];
  }
  return *this;
}

double SkipCounts::share() const {
  double all = 0;
  double left_out = 0;
  for (std::size_t layer = 0; layer < visible.size(); ++layer) {
    all += visible[layer] * static_cast<double>(skipped[layer].size());
    left_out = std::accumulate(skipped[layer].begin(), skipped[layer].end(), left_out);
  }
  return all > 0 ? left_out / all : 0;
}

double SkipCounts::share(std::size_t layer, std::size_t head) const {
  return visible[layer] > 0 ? skipped[layer][head] / visible[layer] : 0;
}

}  // namespace bam
