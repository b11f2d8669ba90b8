// boxes: kernels
#include "support/attention_case.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

void forward(Bench& bench, const AttentionCase& c, const AttentionValues& x, DType dtype,
             const AttentionTolerances& tolerances) {
  bench->attention_forward({.q = bench.in(x.q, dtype),
                            .k = bench.in(x.k, dtype),
                            .v = bench.in(x.v, dtype),
                            .prior = bench.optional_in(x.prior),
                            .first_key = bench.in(x.first_key, DType::i32),
                            .ssmax_scale = bench.optional_in(x.ssmax_scale),
                            .ssmax = c.ssmax,
                            .out = bench.out("out", x.q.shape, DType::f32, tolerances.out),
                            .lse = bench.out("lse", {c.batch, c.heads, c.queries}, DType::f32, tolerances.lse)});
}

void check_values(const std::string& device, DType dtype, const AttentionCase& c, const AttentionValues& x) {
  INFO(c);
  AttentionTolerances tolerances;
  const Call call = [&](Bench& bench) { forward(bench, c, x, dtype, tolerances); };
  const auto truth = run_on_ref(call);
  tolerances = attention_tolerances(c.dim, logit_size(c, x.first_key, truth.at("lse")));
  double largest = 0;
  for (const double v : x.v.at) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  // Probabilities that are rounded to bf16 move an output by at most 2^-9 max|v|.
  if (in_tensor_cores(device, dtype, c.dim)) tolerances.out = tolerances.out + Tolerance{.absolute = 0x1p-9 * largest};
  CHECK(fault_of(device, truth, call) == "");
}

void check_case(const std::string& device, DType dtype, const AttentionCase& c) {
  check_values(device, dtype, c, make_attention(c));
}

const PriorKind* const kPriors[] = {&kNoPrior, &kAlibi, &kSteep, &kShifted, &kOverflowing};
constexpr Ssmax kSsmax[] = {Ssmax::off, Ssmax::content, Ssmax::full};
constexpr Documents kDocuments[] = {Documents::one, Documents::many, Documents::single, Documents::window};

}  // namespace

TEST_CASE("attention: every prior, SSMax form and cut into documents") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const PriorKind* prior : kPriors) {
      for (const Ssmax ssmax : kSsmax) {
        for (const Documents documents : kDocuments) {
          check_case(device, dtype, {2, 70, 70, 5, 5, 16, ssmax, *prior, documents});
        }
      }
    }
  });
}

TEST_CASE("attention: every length around a tile's edge") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index length : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 333}) {
      check_case(device, dtype, {1, length, length, 2, 1, 8, Ssmax::full, kSteep, Documents::one});
      check_case(device, dtype, {1, length, length, 1, 1, 10, Ssmax::off, kNoPrior, Documents::many});
    }
    check_case(device, dtype, {1, 1000, 1000, 2, 2, 32, Ssmax::full, kAlibi, Documents::many});
    check_case(device, dtype, {0, 5, 5, 2, 2, 8, Ssmax::off, kNoPrior, Documents::one});
  });
}

TEST_CASE("attention: every head dimension, grouped queries") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index dim : {1, 2, 7, 8, 10, 16, 24, 32, 33, 48, 64, 100, 128, 160}) {
      check_case(device, dtype, {1, 35, 35, 4, 2, dim, Ssmax::content, kSteep, Documents::many});
    }
    for (const auto& [heads, kv_heads] : {std::pair<Index, Index>{6, 1}, {6, 2}, {6, 3}, {6, 6}, {1, 1}, {12, 4}}) {
      check_case(device, dtype, {2, 40, 40, heads, kv_heads, 24, Ssmax::full, kShifted, Documents::one});
    }
  });
}

TEST_CASE("attention: the queries are the last of the keys") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const auto& [queries, keys] : {std::pair<Index, Index>{1, 1},
                                        {1, 2},
                                        {1, 129},
                                        {1, 700},
                                        {3, 128},
                                        {7, 64},
                                        {64, 129},
                                        {128, 333},
                                        {130, 131}}) {
      for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
        check_case(device, dtype, {2, queries, keys, 4, 2, 16, Ssmax::full, kSteep, documents});
        check_case(device, dtype, {1, queries, keys, 2, 2, 64, Ssmax::content, kNoPrior, documents});
      }
    }
  });
}

TEST_CASE("attention: a few queries over many keys, in ranges that are joined") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index queries : {1, 8}) {
      for (const Index keys : {65, 1024, 2100}) {
        for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
          const PriorKind& prior = keys % 2 == 0 ? kAlibi : kShifted;
          check_case(device, dtype, {1, queries, keys, 4, 2, 16, Ssmax::full, prior, documents});
        }
      }
    }
    for (const Index dim : {1, 7, 24, 33, 128}) {
      check_case(device, dtype, {2, 3, 1100, 2, 1, dim, Ssmax::content, kNoPrior, Documents::one});
    }
  });
}

TEST_CASE("attention: a few queries do not touch what they do not see") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{1, 3, 5000, 2, 2, 16, Ssmax::full, kAlibi, Documents::one};
    AttentionValues x = make_attention(c);
    x.first_key.at = {0, 4100,
                      4998};  // the first sees the bad key 2000, the third only what is behind the bad key 4990
    for (const Index position : {Index{2000}, Index{4990}, Index{4999}}) {
      for (Index e = 0; e < 16; ++e) x.k[position * 32 + e] = std::nan("");
      for (Index e = 0; e < 16; ++e) x.v[position * 32 + 16 + e] = std::nan("");
    }
    check_values(device, dtype, c, x);
  });
}

TEST_CASE("attention: a key that is not visible is never touched") {
  // NaN in keys and values of the first document and of the last position: it must stay with those who see it.
  for_each_backend([](const std::string& device, DType dtype) {
    for (const double odd : {std::nan(""), HUGE_VAL}) {
      // A probability that float cannot hold would turn infinity into NaN: no prior there.
      AttentionCase c{2, 90, 90, 2, 2, 16, Ssmax::full, std::isnan(odd) ? kSteep : kNoPrior, Documents::one};
      AttentionValues x = make_attention(c);
      for (Index i = 0; i < 180; ++i) x.first_key[i] = i % 90 < 37 ? 0 : 37;
      for (const Index position : {Index{5}, Index{36}, Index{89}}) {
        for (Index e = 0; e < 32; ++e) {
          x.k[position * 32 + e] = std::nan("");
          x.v[(90 + position) * 32 + e] = e == 3 ? std::nan("") : odd;
        }
      }
      x.q[50 * 32 + 17] = std::nan("");
      check_values(device, dtype, c, x);
    }
  });
}

TEST_CASE("attention: scores far beyond what exp can hold") {
  for_each_backend([](const std::string& device, DType dtype) {
    AttentionCase c{1, 150, 150, 2, 2, 16, Ssmax::off, kAlibi, Documents::one};
    AttentionValues x = make_attention(c);
    for (double& each : x.q.at) each *= 60;
    for (double& each : x.prior.at) each = each * 100 - 3000;  // every key of every row far below -88
    check_values(device, dtype, c, x);
  });
}

TEST_CASE("attention: ref agrees with the formula, written out in long double") {
  for (const Ssmax ssmax : kSsmax) {
    for (const PriorKind* prior : {&kNoPrior, &kShifted}) {
      const AttentionCase c{1, 3, 6, 4, 2, 3, ssmax, *prior, Documents::one};
      AttentionValues x = make_attention(c);
      x.first_key.at = {0, 2, 5};
      for (Values* each : {&x.q, &x.k, &x.v, &x.prior, &x.ssmax_scale}) *each = rounded(*each, DType::f32);
      auto got = run_on_ref([&](Bench& bench) { forward(bench, c, x, DType::f32, {}); });
      for (Index t = 0; t < 3; ++t) {
        for (Index h = 0; h < 4; ++h) {
          const Index i = t + 3;
          long double z = 0, sum[3] = {};
          for (Index j = static_cast<Index>(x.first_key[t]); j <= i; ++j) {
            long double logit = 0;
            for (Index e = 0; e < 3; ++e)
              logit += (long double){x.q[(t * 4 + h) * 3 + e]} * x.k[(j * 2 + h / 2) * 3 + e];
            logit /= std::sqrt(3.0L);
            const long double b = prior == &kNoPrior ? 0 : x.prior[h * 9 + i - j];
            const long double factor =
                ssmax == Ssmax::off ? 1 : x.ssmax_scale[h] * std::log(static_cast<long double>(i) - x.first_key[t] + 1);
            const long double p = std::exp(ssmax == Ssmax::full ? factor * (logit + b) : factor * logit + b);
            z += p;
            for (Index e = 0; e < 3; ++e) sum[e] += p * x.v[(j * 2 + h / 2) * 3 + e];
          }
          CHECK(got["lse"][h * 3 + t] == Approx(static_cast<double>(std::log(z))).epsilon(1e-13));
          for (Index e = 0; e < 3; ++e) {
            CHECK(got["out"][(t * 4 + h) * 3 + e] == Approx(static_cast<double>(sum[e] / z)).epsilon(1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("attention: by hand") {
  // One head of one channel, q = k = 0: p is the prior's softmax, here 1 : 1/2 : 1/4 by distance.
  const AttentionCase c{1, 3, 3, 1, 1, 1};
  AttentionValues x{.q = filled({1, 3, 1, 1}, 0),
                    .k = filled({1, 3, 1, 1}, 0),
                    .v = {{1, 3, 1, 1}, {7, 14, 28}},
                    .prior = {{1, 3}, {0, -std::log(2.0), -std::log(4.0)}},
                    .first_key = filled({1, 3}, 0),
                    .ssmax_scale = {}};
  const auto got = run_on_ref([&](Bench& bench) { forward(bench, c, x, DType::f32, {}); });
  CHECK(got.at("out")[0] == 7);
  CHECK(got.at("out")[1] == Approx((14 + 3.5) / 1.5));
  CHECK(got.at("out")[2] == Approx((28 + 7 + 1.75) / 1.75));
  CHECK(got.at("lse")[2] == Approx(std::log(1.75)));
}
