// boxes: kernels
#include "support/files.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

constexpr Index kSizes[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 100, 257, 1000};
constexpr DType kFloats[] = {DType::f32, DType::bf16};

Call cast_call(const Values& x, DType from, DType to) {
  return [&x, from, to](Bench& bench) {
    // What ref holds is x rounded to `from`; rounding it to `to` is the op itself, so that is done here.
    if (bench->real() == DType::f64) {
      bench.inout("to", rounded(rounded(x, from), to), DType::f64, kExact);
      return;
    }
    bench->cast({bench.in(x, from), bench.out("to", x.shape, to, kExact)});
  };
}

void sum(Bench& bench, const std::string& name, const Values& x, double before, bool squares, Tolerance tolerance) {
  const TensorView total = bench.inout(name, Values{{1}, {before}}, DType::f64, tolerance);
  bench->sum({.x = bench.in(x), .total = total, .squares = squares});
}

// Every kind of number, with all the ways in which a float can lie between two bf16.
Values odd_numbers() {
  std::vector<double> x = {0.0, -0.0, 1e-40, -1e-40, 1e-45, 3.3e38, -3.3e38, 3.4e38, HUGE_VAL, -HUGE_VAL, std::nan("")};
  for (const std::uint32_t high : {0x3F80U, 0x3F81U, 0xBF80U, 0x0001U, 0x7F7FU, 0x4000U, 0x807FU}) {
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      x.push_back(static_cast<double>(std::bit_cast<float>(high << 16 | low)));
    }
  }
  return {{static_cast<Index>(x.size())}, x};
}

}  // namespace

TEST_CASE("elementwise: casts are exact, or rounded to nearest even") {
  for_each_backend([](const std::string& device, DType) {
    for (const DType from : kFloats) {
      for (const DType to : kFloats) {
        for (const Index size : kSizes) compare(device, cast_call(normal({size}, 1), from, to));
        compare(device, cast_call(odd_numbers(), from, to));
        compare(device, cast_call(normal({50000}, 1), from, to));
      }
    }
  });
}

TEST_CASE("elementwise: add agrees with ref") {
  for_each_backend([](const std::string& device, DType dtype) {
    const auto check = [&](const Values& x, const Values& y) {
      compare(device, [&](Bench& bench) {
        bench->add({bench.inout("x", x, DType::f32, rounding(DType::f32)), bench.in(y, dtype)});
      });
    };
    for (const Index size : kSizes) check(normal({size}, 1), normal({size}, 2));
    check(normal({7, 9000}, 1), normal({9000, 7}, 2));
    Values y = normal({100}, 3);
    y[17] = std::nan("");
    y[99] = HUGE_VAL;
    check(normal({100}, 1), y);
  });
}

TEST_CASE("elementwise: sums are taken in double, and added to what is there") {
  for_each_backend([](const std::string& device, DType) {
    const auto check = [&](const Values& x) {
      compare(device, [&](Bench& bench) {
        // Squares of floats are exact in double; what is left is the order of the sum.
        sum(bench, "squares", x, 0.25, true, {.of_entry = 1e-12});
        sum(bench, "sum", x, -3, false, {.absolute = 1e-12 * static_cast<double>(x.count() + 1)});
      });
    };
    for (const Index size : kSizes) check(normal({size}, 1));
    check(normal({11, 9001}, 1));
    Values x = normal({1000}, 2);
    x[3] = 3e25;  // whose square no float holds
    compare(device, [&](Bench& bench) { sum(bench, "squares", x, 0, true, {.of_entry = 1e-12}); });
    for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      for (const Index place : {0, 500, 999}) {
        x = normal({1000}, 2);
        x[place] = odd;
        check(x);
      }
    }
  });
}

TEST_CASE("elementwise: ref by hand") {
  const Values x{{3}, {1, 2, -4}};
  const auto got = run_on_ref([&](Bench& bench) {
    sum(bench, "squares", x, 0, true, kExact);
    sum(bench, "sum", x, 5, false, kExact);
    bench->add({bench.inout("added", x, DType::f32, kExact), bench.in(Values{{3}, {10, 20, 30}})});
    bench->cast({bench.in(x), bench.out("cast", {3}, DType::f32, kExact)});
  });
  CHECK(got.at("squares")[0] == 21);
  CHECK(got.at("sum")[0] == 4);
  CHECK(got.at("added").at == std::vector<double>{11, 22, 26});
  CHECK(got.at("cast").at == x.at);
}

TEST_CASE("elementwise: memory goes in and out with every pair of dtypes") {
  const Values x = odd_numbers();
  const auto round_trip = [&](Backend& backend, DType host, DType device) {
    const auto count = static_cast<std::size_t>(x.count());
    std::string in(count * size_of(host), '\0');
    std::string out = in;
    for (std::size_t i = 0; i < count; ++i) store(x.at[i], host, in.data() + i * size_of(host));
    const Tensor tensor(backend, device, x.shape);
    backend.fill_zero(tensor);
    backend.copy_in(tensor, {in.data(), host, x.shape});
    backend.copy_out({out.data(), host, x.shape}, tensor);
    backend.synchronize();
    for (Index i = 0; i < x.count(); ++i) {
      const double expected = rounded(rounded(rounded(x[i], host), device), host);
      const double got = load(host, out.data() + static_cast<std::size_t>(i) * size_of(host));
      CHECK((got == expected || (std::isnan(got) && std::isnan(expected))));
      CHECK(std::signbit(got) == std::signbit(expected));
    }
  };
  for (const BackendInfo& info : list_backends()) {
    if (!info.available || !is_under_test(info.name)) continue;
    INFO(info.name);
    Backend& backend = shared_backend(info.name, 2);
    for (const DType host : {DType::f32, DType::f64}) {
      round_trip(backend, host, backend.real());
      if (backend.real() == DType::f32 && host == DType::f32) round_trip(backend, host, DType::bf16);
    }
    const Tensor tensor(backend, DType::i32, {3});
    std::int32_t ids[3] = {7, -8, 2147483647};
    backend.copy_in(tensor, {ids, DType::i32, {3}});
    std::fill_n(ids, 3, 0);
    backend.copy_out({ids, DType::i32, {3}}, tensor);
    backend.synchronize();
    CHECK((ids[0] == 7 && ids[1] == -8 && ids[2] == 2147483647));
    backend.fill_zero(tensor);
    backend.copy_out({ids, DType::i32, {3}}, tensor);
    backend.synchronize();
    CHECK((ids[0] == 0 && ids[2] == 0));
    CHECK(is_one_line(error_of([&] { backend.copy_in(tensor, {ids, DType::i32, {2}}); })));
  }
}
