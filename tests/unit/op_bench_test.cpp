// boxes: kernels
// The bench itself: each kind of fault, planted in an op that is otherwise right, is found and named.
#include "support/op_bench.h"
#include "support/files.h"

using namespace bam;
using namespace bam::test;

namespace {

// x += y on 10 numbers; `fault` is done afterwards, on the backend under test only.
template <typename Fault>
std::string found(const std::string& device, Fault&& fault) {
  const Call call = [&](Bench& bench) {
    const TensorView x = bench.inout("x", normal({10}, 1), DType::f32, rounding(DType::f32));
    const ConstTensorView y = bench.in(normal({10}, 2));
    bench->add({x, y});
    if (bench->real() == DType::f32) fault(static_cast<float*>(x.data), static_cast<const float*>(y.data));
  };
  return fault_of(device, run_on_ref(call), call);
}

// Guard zones are forbidden to all else in a program with AddressSanitizer, which would end it before the bench has a
// say.
[[gnu::no_sanitize_address]] void set(float* at, float value) {
  *at = value;
}
[[gnu::no_sanitize_address]] float get(const float* at) {
  return *at;
}

}  // namespace

TEST_CASE("op_bench: planted faults are found") {
  // The faults are made by writing through the pointers: only where tensors are host memory.
  for (const std::string device : {"cpu"}) {
    CHECK(found(device, [](float*, const float*) {}) == "");
    CHECK(contains(found(device, [](float* x, const float*) { set(x + 10, 0); }), "wrote behind x"));
    CHECK(contains(found(device, [](float* x, const float*) { set(x - 1, 0); }), "wrote before x"));
    CHECK(contains(found(device, [](float*, const float* y) { const_cast<float*>(y)[3] = 0; }), "wrote to an input"));
    CHECK(contains(found(device, [](float* x, const float*) { x[7] *= 1.000001F; }), "x[10] at 7"));
    CHECK(contains(found(device, [](float* x, const float*) { x[7] = std::nanf(""); }), "x[10] at 7"));
    CHECK(contains(found(device, [](float* x, const float*) { x[7] = HUGE_VALF; }), "x[10] at 7"));
    CHECK(contains(found(device, [](float* x, const float* y) { x[9] += get(y + 10); }), "x[10] at 9"));
    int runs = 0;
    CHECK(contains(found(device, [&](float* x, const float*) { x[7] += ++runs % 2 == 0 ? 1e-7F * x[7] : 0; }),
                   "differs between two equal runs"));
  }
}

TEST_CASE("op_bench: what is not written is found") {
  const Call call = [](Bench& bench) { bench.out("x", {3}, DType::f32, rounding(DType::f32)); };
  CHECK(contains(fault_of("cpu", run_on_ref(call), call), "x[3] at 0"));
}

TEST_CASE("op_bench: differences are measured against the tolerance") {
  const auto differ = [](double found, double truth, Tolerance tolerance) {
    return difference({"x", DType::f32, tolerance, {{2}, {found, 100}}, ""}, {{2}, {truth, 100}}) != "";
  };
  CHECK_FALSE(differ(1.001, 1, {.of_entry = 0.0011}));
  CHECK(differ(1.001, 1, {.of_entry = 0.0009}));
  CHECK_FALSE(differ(1.09, 1, {.of_largest = 0.001}));
  CHECK(differ(1.11, 1, {.of_largest = 0.001}));
  CHECK(differ(1.11, 1, {.absolute = 0.1}));
  CHECK_FALSE(differ(std::nan(""), std::nan(""), kExact));
  CHECK_FALSE(differ(HUGE_VAL, HUGE_VAL, kExact));
  CHECK(differ(HUGE_VAL, -HUGE_VAL, {.of_largest = 1e9}));
  CHECK(differ(HUGE_VAL, std::nan(""), {.of_largest = 1e9}));
  CHECK(differ(1, HUGE_VAL, {.of_largest = 1e9}));
}

TEST_CASE("op_bench: bf16 by the book") {
  CHECK(round_to_bf16(1.00390625F) == 1.0F);             // half way, to the even one
  CHECK(round_to_bf16(1.01171875F) == 1.015625F);        // half way, to the even one
  CHECK(round_to_bf16(1.00390637F) == 1.0078125F);       // a little more than half
  CHECK(std::isinf(round_to_bf16(3.4e38F)));             // beyond the largest
  CHECK(round_to_bf16(3.3895314e38F) == 3.3895314e38F);  // the largest
  CHECK(std::isnan(round_to_bf16(std::nanf(""))));
  CHECK(std::signbit(round_to_bf16(-0.0F)));
}
