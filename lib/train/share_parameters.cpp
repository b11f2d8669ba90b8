// By itself, for programs that have the optimizer and no files.
#include <algorithm>
#include <numeric>

#include "train/ranks.h"

namespace bam::train {

std::vector<int> share_parameters(const std::vector<ParameterInfo>& infos, int ranks) {
  std::vector<std::size_t> order(infos.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return infos[i].shape.count(); });
  std::vector<Index> load(static_cast<std::size_t>(ranks));
  std::vector<int> owners(infos.size());
  for (const std::size_t i : order) {
    const auto lightest = std::ranges::min_element(load);
    *lightest += infos[i].shape.count();
    owners[i] = static_cast<int>(lightest - load.begin());
  }
  return owners;
}

}  // namespace bam::train
