// Non-owning views of row-major tensors. Ops take views, never allocate, and never keep them.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/types.h"

namespace bam {

enum class DType : std::uint8_t { f64, f32, bf16, i32 };

std::size_t size_of(DType dtype);
std::string_view name_of(DType dtype);  // "f64", "f32", "bf16", "i32"

// Up to four dimensions, the last one contiguous. A default Shape has rank 0 and no elements.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Index> dims);

  int rank() const { return rank_; }
  Index operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  Index count() const;
  std::string text() const;  // "[2,512,768]"
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<Index, 4> dims_{};
  int rank_ = 0;
};

template <typename Pointer>
struct BasicTensorView {
  Pointer data = nullptr;
  DType dtype = DType::f32;
  Shape shape;

  bool empty() const { return data == nullptr; }
  Index count() const { return shape.count(); }
  std::size_t bytes() const { return static_cast<std::size_t>(count()) * size_of(dtype); }

  // The same elements under another shape of equal count.
  BasicTensorView as(Shape other) const { return {data, dtype, other}; }
};

using TensorView = BasicTensorView<void*>;

struct ConstTensorView : BasicTensorView<const void*> {
  ConstTensorView() = default;
  ConstTensorView(const void* data_, DType dtype_, Shape shape_) : BasicTensorView{data_, dtype_, shape_} {}
  ConstTensorView(const BasicTensorView<const void*>& view) : BasicTensorView(view) {}  // NOLINT: implicit on purpose
  ConstTensorView(const TensorView& view) : BasicTensorView{view.data, view.dtype, view.shape} {}  // NOLINT
};

// Rows [first, first + count) of the leading dimension.
TensorView rows(const TensorView& view, Index first, Index count);
ConstTensorView rows(const ConstTensorView& view, Index first, Index count);

}  // namespace bam
