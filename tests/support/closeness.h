// What a backend holds, and how near it is to what was expected.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/backend.h"

namespace bam::test {

inline void to_backend(Backend& backend, const TensorView& view, const std::vector<double>& values) {
  backend.copy_in(view, {values.data(), DType::f64, view.shape});
}

inline std::vector<double> to_host(Backend& backend, ConstTensorView view) {
  std::vector<double> values(static_cast<std::size_t>(view.count()));
  backend.copy_out({values.data(), DType::f64, view.shape}, view);
  return values;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// NaN anywhere makes the difference infinite, so that no comparison lets it pass; so does another size.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    most = difference >= 0 ? std::max(most, difference) : HUGE_VAL;
  }
  return most;
}

// Of the angle between two vectors; -1 for vectors of different sizes.
inline double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return -1;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa == 0 && bb == 0 ? 1.0 : ab / std::sqrt(aa * bb);
}

}  // namespace bam::test
