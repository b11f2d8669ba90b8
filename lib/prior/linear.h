// Inside lib/prior: symmetric matrices of at most three rows.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace bam::detail {

class SmallMatrix {
 public:
  explicit SmallMatrix(std::size_t size) : size_(size) {}
  std::size_t size() const { return size_; }
  double& operator()(std::size_t i, std::size_t j) { return at_[i * 3 + j]; }
  double operator()(std::size_t i, std::size_t j) const { return at_[i * 3 + j]; }

 private:
  std::size_t size_;
  std::array<double, 9> at_{};
};

inline SmallMatrix product(const SmallMatrix& a, const SmallMatrix& b) {
  SmallMatrix c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      for (std::size_t j = 0; j < a.size(); ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

// None unless the matrix is positive definite, by a margin above rounding (1e-12 once its diagonal is made 1).
inline std::optional<SmallMatrix> inverse_of_positive(const SmallMatrix& a) {
  const std::size_t n = a.size();
  std::array<double, 3> scale{};
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a(i, i) > 0) || !std::isfinite(a(i, i))) return std::nullopt;
    scale[i] = 1 / std::sqrt(a(i, i));
  }
  SmallMatrix lower(n);  // Cholesky
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a(i, j) * scale[i] * scale[j];
      for (std::size_t k = 0; k < j; ++k) sum -= lower(i, k) * lower(j, k);
      if (i != j) {
        lower(i, j) = sum / lower(j, j);
        continue;
      }
      if (!(sum > 1e-12)) return std::nullopt;
      lower(i, i) = std::sqrt(sum);
    }
  }
  SmallMatrix inverse(n);
  for (std::size_t column = 0; column < n; ++column) {
    std::array<double, 3> y{};
    for (std::size_t i = 0; i < n; ++i) {
      double sum = i == column ? 1.0 : 0.0;
      for (std::size_t k = 0; k < i; ++k) sum -= lower(i, k) * y[k];
      y[i] = sum / lower(i, i);
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) y[i] -= lower(k, i) * y[k];
      y[i] /= lower(i, i);
    }
    for (std::size_t i = 0; i < n; ++i) inverse(i, column) = y[i] * scale[i] * scale[column];
  }
  return inverse;
}

}  // namespace bam::detail
