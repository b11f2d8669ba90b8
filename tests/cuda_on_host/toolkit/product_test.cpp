// boxes: base kernels
// kernels/cuda/product.cpp itself: rows and columns, accumulation, alignment and workspace as cuBLASLt has them.
#include "kernels/cuda/product.h"

#include <cstring>

#include "cuda_on_host/toolkit/fake.h"
#include "kernels/cuda/ops.h"
#include "support/catch.h"
#include "support/values.h"

using namespace bam;
using namespace bam::test;
using bam::test::fake::machine;

namespace {

int plain_calls = 0;

// A matrix of the dtype, `shift` elements off a multiple of 256 bytes.
class Matrix {
 public:
  Matrix(const Values& x, DType dtype, Index shift) : dtype_(dtype), shape_(x.shape) {
    const std::size_t bytes = (static_cast<std::size_t>(x.count() + shift) * size_of(dtype) + 511) / 256 * 256;
    memory_.reset(static_cast<char*>(std::aligned_alloc(256, bytes)));
    data_ = memory_.get() + static_cast<std::size_t>(shift) * size_of(dtype);
    for (Index i = 0; i < x.count(); ++i) {
      store(x[i], dtype, data_ + static_cast<std::size_t>(i) * size_of(dtype));
    }
  }
  TensorView view() const { return {data_, dtype_, shape_}; }
  double at(Index i) const { return load(dtype_, data_ + static_cast<std::size_t>(i) * size_of(dtype_)); }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  DType dtype_;
  Shape shape_;
  std::unique_ptr<char, Free> memory_;
  char* data_ = nullptr;
};

}  // namespace

namespace bam::cuda {
void plain_product(const MatmulArgs&, const Context&) {
  ++plain_calls;
}
}  // namespace bam::cuda

TEST_CASE("product: every orientation, dtype and alignment") {
  machine() = {};
  {
    cuda::Memory memory;
    cuda::Product product(false);
    const Index m = 5, n = 7, k = 3;
    for (int turns = 0; turns < 4; ++turns) {
      const bool turn_a = (turns & 1) != 0, turn_b = (turns & 2) != 0;
      const Values a = whole(turn_a ? Shape{k, m} : Shape{m, k}, 1, 9);
      const Values b = whole(turn_b ? Shape{n, k} : Shape{k, n}, 2, 9);
      const Values c = whole({m, n}, 3, 9);
      for (const auto& [in, out] :
           {std::pair{DType::f32, DType::f32}, {DType::bf16, DType::f32}, {DType::bf16, DType::bf16}}) {
        for (const Index shift : {0, 1, 4}) {
          for (const bool accumulate : {false, true}) {
            if (accumulate && out == DType::bf16) continue;
            const Matrix left(a, in, shift), right(b, in, shift), to(c, out, shift);
            product.run({left.view(), right.view(), to.view(), turn_a, turn_b, accumulate}, {nullptr, &memory});
            for (Index i = 0; i < m * n; ++i) {
              double sum = accumulate ? c[i] : 0;
              for (Index e = 0; e < k; ++e) {
                sum += a[turn_a ? e * m + i / n : i / n * k + e] * b[turn_b ? i % n * k + e : e * n + i % n];
              }
              CHECK(to.at(i) == rounded(sum, out));
            }
          }
        }
      }
    }
    CHECK(machine().workspace == std::size_t{32} << 20);
    CHECK(!machine().tf32);
  }
  CHECK(plain_calls == 0);
  CHECK(machine().allocated == 0);
}

TEST_CASE("product: a shape is looked up once, TF32 is for f32 alone, what has no kernel is done without") {
  machine() = {};
  cuda::Memory memory;
  const Values x = filled({4, 4}, 1);
  const auto run = [&](cuda::Product& product, DType dtype) {
    const Matrix a(x, dtype, 0), b(x, dtype, 0), c(x, DType::f32, 0);
    product.run({a.view(), b.view(), c.view(), false, false, false}, {nullptr, &memory});
  };
  cuda::Product product(true);
  for (int i = 0; i < 3; ++i) run(product, DType::f32);
  CHECK(machine().searches == 1);
  CHECK(machine().tf32);
  run(product, DType::bf16);
  CHECK(machine().searches == 2);
  CHECK(!machine().tf32);
  machine().has_kernels = false;
  cuda::Product other(false);
  plain_calls = 0;
  for (int i = 0; i < 3; ++i) run(other, DType::f32);
  CHECK(plain_calls == 3);
  CHECK(machine().searches == 3);
}
