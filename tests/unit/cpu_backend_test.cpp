// boxes: kernels
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "support/catch.h"
#include "support/errors.h"

using namespace bam;
using bam::test::contains;
using bam::test::error_of;

namespace {

// Sets an environment variable and puts it back.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    setenv(name, value, 1);
  }
  ~Setting() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

}  // namespace

TEST_CASE("cpu_backend: says what it runs on") {
  const auto backend = make_backend("cpu", 3);
  CHECK(backend->name() == "cpu");
  CHECK(backend->real() == DType::f32);
  CHECK(backend->threads() == 3);
  CHECK(contains(backend->describe(), ", 3 threads, oneDNN "));
  CHECK(contains(backend->describe(), "bf16 products "));
  CHECK(contains(make_backend("cpu", 1)->describe(), ", 1 thread, "));
}

TEST_CASE("cpu_backend: thread counts") {
  CHECK(make_backend("cpu", 0)->threads() >= 1);
  CHECK(make_backend("auto", 5)->threads() == 5);
  CHECK_THROWS_AS(make_backend("cpu", -1), UsageError);
  CHECK_THROWS_AS(make_backend("cpu", 1000000), UsageError);
}

TEST_CASE("cpu_backend: an instruction set can be chosen, and one that is not there is refused") {
  {
    const Setting setting("BAM_CPU_ISA", "portable");
    CHECK(make_backend("cpu", 1)->describe().rfind("portable, ", 0) == 0);
  }
  for (const char* wish : {"sparc", "AVX2", "avx2 ", "avx1024"}) {
    const Setting setting("BAM_CPU_ISA", wish);
    const std::string text = error_of([] { make_backend("cpu", 1); });
    CHECK(contains(text, "BAM_CPU_ISA: '" + std::string(wish) + "'"));
    CHECK(contains(text, "portable"));
  }
  const Setting empty("BAM_CPU_ISA", "");
  CHECK_NOTHROW(make_backend("cpu", 1));
}

TEST_CASE("cpu_backend: memory is aligned, and what is not there is refused with its size") {
  const auto backend = make_backend("cpu", 1);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{4097}}) {
    void* data = backend->allocate(bytes);
    CHECK(data != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    backend->release(data);
  }
  for (const std::size_t bytes : {std::size_t{1} << 50, std::size_t{1} << 62, ~std::size_t{0} - 7}) {
    const std::string text = error_of([&] { backend->allocate(bytes); });
    CHECK(contains(text, std::to_string(bytes >> 20) + " MiB"));
    CHECK(!contains(text, "\n"));
  }
  // Just more than the machine has: Linux would hand it out and kill the process when it is used.
  CHECK(error_of([&] { Tensor(*backend, DType::f32, {Index{1} << 22, Index{1} << 22}); }) != "no error");
}

TEST_CASE("cpu_backend: copies convert between the dtypes of the two sides") {
  const auto backend = make_backend("cpu", 2);
  const Index count = 100003;  // several shares and a rest
  std::vector<double> exact(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = static_cast<double>(i % 256) - 128;  // exact in bf16
  for (const DType inside : {DType::f64, DType::f32, DType::bf16}) {
    for (const DType between : {DType::f64, DType::f32, DType::bf16}) {
      const Tensor first(*backend, inside, {count}), second(*backend, between, {count});
      backend->copy_in(first, ConstTensorView{exact.data(), DType::f64, {count}});
      backend->copy_out(second, first.view());
      std::vector<double> back(exact.size());
      backend->copy_out(TensorView{back.data(), DType::f64, {count}}, second.view());
      CHECK(back == exact);
    }
  }
  const Tensor words(*backend, DType::i32, {3});
  const std::int32_t ids[] = {1, -2, 2147483647};
  std::int32_t back[3] = {};
  backend->copy_in(words, ConstTensorView{ids, DType::i32, {3}});
  backend->copy_out(TensorView{back, DType::i32, {3}}, words.view());
  CHECK(std::equal(ids, ids + 3, back));

  const Tensor reals(*backend, DType::f32, {3});
  CHECK_THROWS_AS(backend->copy_in(reals, words.view()), Error);
  CHECK_THROWS_AS(backend->copy_in(reals, ConstTensorView{exact.data(), DType::f64, {4}}), Error);
}

#ifdef __SSE2__
TEST_CASE("cpu_backend: denormal numbers are 0 in attention, and nowhere else") {
  for (const int threads : {1, 2}) {
    const auto backend = make_backend("cpu", threads);
    const auto tensor = [&](const Shape& shape, const std::vector<float>& values) {
      Tensor made(*backend, DType::f32, shape);
      backend->copy_in(made, ConstTensorView{values.data(), DType::f32, shape});
      return made;
    };
    constexpr Index kHeads = 2, kDim = 16;
    const Shape shape{1, 2, kHeads, kDim};
    std::vector<float> gradient(2 * kHeads * kDim, 0.0F);
    std::fill(gradient.begin() + kHeads * kDim, gradient.end(), 1e-3F);  // of the second query's output
    const Tensor zeros = tensor(shape, std::vector<float>(gradient.size(), 0.0F)), dout = tensor(shape, gradient);
    const Tensor prior = tensor({kHeads, 2}, {0, -85, 0, -85});  // the key before has a probability of e^-85
    Tensor first_key(*backend, DType::i32, {1, 2});
    backend->fill_zero(first_key);
    const Tensor out(*backend, DType::f32, shape), lse(*backend, DType::f32, {1, kHeads, 2});
    const Tensor dq(*backend, DType::f32, shape), dk(*backend, DType::f32, shape), dv = tensor(shape, gradient);
    backend->attention_forward({.q = zeros,
                                .k = zeros,
                                .v = zeros,
                                .prior = prior,
                                .first_key = first_key,
                                .ssmax_scale = {},
                                .out = out,
                                .lse = lse});
    backend->attention_backward({.q = zeros,
                                 .k = zeros,
                                 .v = zeros,
                                 .prior = prior,
                                 .first_key = first_key,
                                 .ssmax_scale = {},
                                 .out = out,
                                 .lse = lse,
                                 .dout = dout,
                                 .dq = dq,
                                 .dk = dk,
                                 .dv = dv,
                                 .dprior = {},
                                 .dssmax_scale = {}});
    std::vector<float> found(gradient.size());
    backend->copy_out(TensorView{found.data(), DType::f32, shape}, dv.view());
    CHECK(std::all_of(found.begin(), found.begin() + kHeads * kDim, [](float value) { return value == 0; }));
    CHECK(found.back() == Approx(1e-3));
    const volatile float here = 1e-40F;
    CHECK(here + here > 0);
  }
}
#endif

TEST_CASE("cpu_backend: backends of different thread counts live side by side, each with its own bits") {
  const auto one = make_backend("cpu", 1);
  const auto two = make_backend("cpu", 2);
  const Index n = 193;
  const auto product = [&](Backend& backend) {
    std::vector<float> values(static_cast<std::size_t>(n * n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
    const Tensor a(backend, DType::f32, {n, n}), c(backend, DType::f32, {n, n});
    backend.copy_in(a, ConstTensorView{values.data(), DType::f32, {n, n}});
    backend.matmul({.a = a, .b = a, .c = c, .transpose_a = true});
    backend.copy_out(TensorView{values.data(), DType::f32, {n, n}}, c.view());
    return values;
  };
  const auto first_one = product(*one);
  const auto first_two = product(*two);
  CHECK(product(*one) == first_one);
  CHECK(product(*two) == first_two);
}

TEST_CASE("cpu_backend: a backend is asked for by name") {
  CHECK(make_backend("ref", 3)->threads() == 1);
  CHECK(make_backend("cpu", 2)->threads() == 2);
  const bool has_cuda = list_backends().back().available;
  CHECK(make_backend("auto", 1)->name() == (has_cuda ? "cuda" : "cpu"));
  CHECK(contains(error_of([] { make_backend("cuda:1000", 1); }), "--device cuda:1000: "));
  CHECK(contains(error_of([] { make_backend("cuda:-1", 1); }), "'cuda:-1' is not a device"));
  CHECK(contains(error_of([] { make_backend("gpu", 1); }), "'gpu' is not a device"));
}
