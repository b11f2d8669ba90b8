// Grid - a tensor indexed as it is written on paper: q(b, t, h, c).
#pragma once

#include <cstdint>

#include "kernels/tensor.h"

namespace bam::ref {

template <typename T>
class Grid {
 public:
  Grid(T* data, const Shape& shape) : data_(data), shape_(shape) {}

  template <typename... Indices>
  T& operator()(Indices... indices) const {
    Index flat = 0;
    int axis = 0;
    ((flat = flat * shape_[axis++] + indices), ...);
    return data_[flat];
  }
  T& flat(Index i) const { return data_[i]; }

  bool empty() const { return data_ == nullptr; }
  Index size(int axis) const { return shape_[axis]; }
  Index count() const { return shape_.count(); }

 private:
  T* data_;
  Shape shape_;
};

inline Grid<double> reals(const TensorView& x) {
  return {static_cast<double*>(x.data), x.shape};
}
inline Grid<const double> reals(const ConstTensorView& x) {
  return {static_cast<const double*>(x.data), x.shape};
}
inline Grid<const std::int32_t> integers(const ConstTensorView& x) {
  return {static_cast<const std::int32_t*>(x.data), x.shape};
}
inline Grid<std::int32_t> integers(const TensorView& x) {
  return {static_cast<std::int32_t*>(x.data), x.shape};
}

}  // namespace bam::ref
