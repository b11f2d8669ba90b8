#include "kernels/tensor.h"

namespace bam {
namespace {

template <typename View>
View rows_of(const View& view, Index first, Index count) {
  const Index row = view.shape[0] > 0 ? view.shape.count() / view.shape[0] : 0;
  using Byte = std::conditional_t<std::is_same_v<View, TensorView>, char, const char>;
  auto* data = static_cast<Byte*>(view.data) + static_cast<std::size_t>(first * row) * size_of(view.dtype);
  const Shape& s = view.shape;
  switch (s.rank()) {
    case 1:
      return View{data, view.dtype, Shape{count}};
    case 2:
      return View{data, view.dtype, Shape{count, s[1]}};
    case 3:
      return View{data, view.dtype, Shape{count, s[1], s[2]}};
    default:
      return View{data, view.dtype, Shape{count, s[1], s[2], s[3]}};
  }
}

}  // namespace

std::size_t size_of(DType dtype) {
  constexpr std::array<std::size_t, 4> kSizes = {8, 4, 2, 4};
  return kSizes[static_cast<std::size_t>(dtype)];
}

std::string_view name_of(DType dtype) {
  constexpr std::array<std::string_view, 4> kNames = {"f64", "f32", "bf16", "i32"};
  return kNames[static_cast<std::size_t>(dtype)];
}

Shape::Shape(std::initializer_list<Index> dims) {
  for (const Index dim : dims) dims_[static_cast<std::size_t>(rank_++)] = dim;
}

Index Shape::count() const {
  if (rank_ == 0) return 0;
  Index product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
  return product;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) out += ',';
    out += std::to_string((*this)[axis]);
  }
  return out + "]";
}

TensorView rows(const TensorView& view, Index first, Index count) {
  return rows_of(view, first, count);
}

ConstTensorView rows(const ConstTensorView& view, Index first, Index count) {
  return rows_of(view, first, count);
}

}  // namespace bam
