// Check - what check.cpp asks of the arguments of one op call. Not for use outside this folder.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "kernels/backend.h"

namespace bam {

// The arguments of one call. Inputs may overlap each other; an output overlaps nothing, unless it is named as the same
// tensor as another argument.
class Check {
 public:
  Check(Backend& backend, std::string_view op) : backend_(backend), real_(backend.real()), op_(op) {}

  DType real() const { return real_; }
  bool is_real_or_half(DType dtype) const { return dtype == real_ || (dtype == DType::bf16 && real_ == DType::f32); }

  [[noreturn]] void fail(const std::string& what) const { throw Error(std::string(op_) + ": " + what); }
  void require(bool holds, const char* what) const {
    if (!holds) fail(what);
  }

  void rank(const char* name, const ConstTensorView& x, int rank) const {
    if (x.shape.rank() != rank) {
      fail(std::string(name) + " is " + text_of(x) + ", expected a tensor of rank " + std::to_string(rank));
    }
  }

  void in(const char* name, const ConstTensorView& x, const Shape& shape, DType dtype) {
    const bool missing = x.data == nullptr && shape.count() > 0;
    if (missing || x.dtype != dtype || x.shape != shape) {
      fail(std::string(name) + " is " + (missing ? "missing" : text_of(x)) + ", expected " +
           std::string(name_of(dtype)) + shape.text());
    }
    entries_[count_++] = {name, x, false};
  }
  void in(const char* name, const ConstTensorView& x, const Shape& shape) { in(name, x, shape, real_); }
  void in_real_or_half(const char* name, const ConstTensorView& x, const Shape& shape) {
    in(name, x, shape, is_real_or_half(x.dtype) ? x.dtype : real_);
  }

  void out(const char* name, const TensorView& x, const Shape& shape, DType dtype) {
    in(name, x, shape, dtype);
    entries_[count_ - 1].written = true;
  }
  void out(const char* name, const TensorView& x, const Shape& shape) { out(name, x, shape, real_); }
  void out_real_or_half(const char* name, const TensorView& x, const Shape& shape) {
    out(name, x, shape, is_real_or_half(x.dtype) ? x.dtype : real_);
  }
  void optional_in(const char* name, const ConstTensorView& x, const Shape& shape) {
    if (!x.empty()) in(name, x, shape);
  }
  void optional_out(const char* name, const TensorView& x, const Shape& shape) {
    if (!x.empty()) out(name, x, shape);
  }

  void ids(const char* name, const ConstTensorView& ids, const IdRange& range) const {
    backend_.check_ids(op_, name, ids, range);
  }

  // To be called last. Two arguments of a pair in `same` may be one and the same tensor.
  void aliases(std::initializer_list<std::pair<std::string_view, std::string_view>> same = {}) const {
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t j = 0; j < count_; ++j) {
        const Entry& x = entries_[i];
        const Entry& y = entries_[j];
        if (i == j || !x.written || !overlap(x.view, y.view)) continue;
        const bool one_tensor = x.view.data == y.view.data && x.view.dtype == y.view.dtype;
        const bool named = std::any_of(same.begin(), same.end(), [&](const auto& pair) {
          return (pair.first == x.name && pair.second == y.name) || (pair.first == y.name && pair.second == x.name);
        });
        if (!one_tensor || !named) {
          fail(std::string(x.name) + " overlaps " + y.name + ", expected memory of its own");
        }
      }
    }
  }

 private:
  struct Entry {
    const char* name = nullptr;
    ConstTensorView view;
    bool written = false;
  };

  static std::string text_of(const ConstTensorView& x) { return std::string(name_of(x.dtype)) + x.shape.text(); }

  static bool overlap(const ConstTensorView& x, const ConstTensorView& y) {
    const std::less<const char*> before;  // it alone orders pointers into different arrays
    const auto* x_begin = static_cast<const char*>(x.data);
    const auto* y_begin = static_cast<const char*>(y.data);
    if (x.bytes() == 0 || y.bytes() == 0) return false;
    return before(x_begin, y_begin + y.bytes()) && before(y_begin, x_begin + x.bytes());
  }

  Backend& backend_;
  DType real_;
  std::string_view op_;
  std::array<Entry, 16> entries_{};
  std::size_t count_ = 0;
};

}  // namespace bam
