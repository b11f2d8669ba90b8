// boxes: kernels
// Certified skipping against dense attention in float64, on inputs that are made to deceive it.
#include <numeric>

#include "support/attention_case.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

const PriorKind kLocal{"local", {{1, 0, 0}, {1, -1, -0.9}, {2, -3, 0}, {3, -6, 0}}};
const PriorKind kRetrieval{"retrieval", {{-0.5, 0, 0}, {-2, 3, 0}, {-1, 1, -1.5}, {0, 0, 0}}};
const PriorKind* const kPriors[] = {&kNoPrior, &kLocal, &kRetrieval, &kShifted, &kOverflowing};

struct Outcome {
  std::map<std::string, Values> dense, found;  // float64 without skipping; the backend with it
};

Outcome skip(const std::string& device, int threads, DType dtype, const AttentionCase& c, const AttentionValues& x,
             double eps) {
  const Index blocks = (c.keys + kKeyBlock - 1) / kKeyBlock;
  const Call call = [&](Bench& bench) {
    const ConstTensorView k = bench.in(x.k, dtype);
    const ConstTensorView v = bench.in(x.v, dtype);
    const TensorView bounds = bench.out("bounds", {c.batch, blocks, c.kv_heads, 2 * c.dim}, DType::f32, {});
    bench->key_bounds({k, v, 0, bounds});
    bench->attention_forward({.q = bench.in(x.q, dtype),
                              .k = k,
                              .v = v,
                              .prior = bench.optional_in(x.prior),
                              .first_key = bench.in(x.first_key, DType::i32),
                              .ssmax_scale = bench.optional_in(x.ssmax_scale),
                              .ssmax = c.ssmax,
                              .out = bench.out("out", x.q.shape, DType::f32, {}),
                              .lse = bench.out("lse", {c.batch, c.heads, c.queries}, DType::f32, {}),
                              .skip_eps = eps,
                              .key_bounds = bounds,
                              .skipped = bench.out("skipped", {c.heads}, DType::f32, {})});
  };
  std::string fault;
  Outcome outcome{run_on_ref(call), by_name(run_once(device, threads, 1, call, fault))};
  REQUIRE(fault == "");
  return outcome;
}

double largest(const Values& x) {
  double most = 0;
  for (const double each : x.at) most = std::max(most, std::abs(each));
  return most;
}

double mean(const Values& x) {
  return std::accumulate(x.at.begin(), x.at.end(), 0.0) / static_cast<double>(x.count());
}

// The promise: of each row less than eps of the mass is gone, and its output moves by less than 2 eps max|v|. What is
// kept is computed in f32 from logits of up to `size`. Returns the mean share of skipped pairs, 1
// where this backend has no skipping for such heads.
double check_promise(const std::string& device, DType dtype, const AttentionCase& c, const AttentionValues& x,
                     double eps) {
  INFO(c << " eps " << eps);
  const Outcome outcome = skip(device, 2, dtype, c, x, eps);
  const Values& truth = outcome.dense.at("lse");
  const Values& lse = outcome.found.at("lse");
  const double rounding = 4e-6 * logit_size(c, x.first_key, truth);
  double lost = 0;
  for (Index i = 0; i < truth.count(); ++i) {
    const Index t = i % c.queries;
    const Index batch = i / (c.heads * c.queries);
    // The lse of a row with one key is that key's logit, which may be anything.
    if (x.first_key[batch * c.queries + t] == static_cast<double>(c.keys - c.queries + t)) continue;
    lost = std::max(lost, -std::expm1(lse[i] - truth[i]));
  }
  CHECK(lost < eps + rounding);
  double moved = 0;
  const Values& out = outcome.found.at("out");
  for (Index i = 0; i < out.count(); ++i) moved = std::max(moved, std::abs(out[i] - outcome.dense.at("out")[i]));
  const double half = in_tensor_cores(device, dtype, c.dim) ? 0x1p-9 : 0;  // of p before it multiplies v
  CHECK(moved < (2 * eps + 4 * rounding + half) * largest(x.v));
  if (!leaves_out(device, dtype, c.dim)) return 1;
  return mean(outcome.found.at("skipped"));
}

}  // namespace

TEST_CASE("attention skipping: bounds of key blocks") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const auto& range : {std::pair<Index, Index>{1, 0}, {64, 0}, {65, 64}, {200, 130}, {128, 128}}) {
      const Index keys = range.first, first = range.second;  // clang before 16 hands no names of parts to a lambda
      for (const Index dim : {1, 8, 19, 48}) {
        Values k = normal({2, keys, 3, dim}, 1);
        Values v = normal({2, keys, 3, dim}, 2);
        if (keys == 200) k[190 * 3 * dim] = std::nan("");
        if (keys == 200) v[(200 + 140) * 3 * dim + dim] = HUGE_VAL;
        const Index blocks = (keys + kKeyBlock - 1) / kKeyBlock;
        compare(device, [&](Bench& bench) {
          bench->key_bounds({bench.in(k, dtype), bench.in(v, dtype), first,
                             bench.inout("bounds", filled({2, blocks, 3, 2 * dim}, 7), DType::f32, {})});
        });
      }
    }
  });
}

TEST_CASE("attention skipping: no row loses more than eps") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const PriorKind* prior : kPriors) {
      for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
        for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
          const AttentionCase c{1, 600, 600, 4, 2, 8, ssmax, *prior, documents};
          const double share = check_promise(device, dtype, c, make_attention(c), 1e-2);
          if (prior == &kLocal && documents == Documents::one) CHECK(share > 0.3);
        }
      }
    }
    const AttentionCase late{2, 70, 1500, 4, 4, 20, Ssmax::full, kLocal, Documents::one};
    CHECK(check_promise(device, dtype, late, make_attention(late), 1e-6) > 0.5);
    const AttentionCase decode{1, 1, 1500, 4, 4, 16, Ssmax::full, kLocal, Documents::one};
    CHECK(check_promise(device, dtype, decode, make_attention(decode), 1e-6) > 0.5);
  });
}

TEST_CASE("attention skipping: the prior alone decides") {
  // Without content the bounds are tight, and an error of a block of distances shows: a slope that takes hundreds of
  // keys to fall by ln(n / eps), and peaks 150 keys back, for either sign.
  const double peak = -std::asinh(75.0);
  const PriorKind slow{"slow", {{1, std::log(0.012), 0}, {2, -9, peak}, {-0.5, 4, 0}, {-0.5, -3, peak}}};
  for_each_backend([&](const std::string& device, DType dtype) {
    for (const Ssmax ssmax : {Ssmax::off, Ssmax::full}) {
      for (const double sign : {1.0, -1.0}) {
        const AttentionCase c{1, 100, 1500, 4, 4, 8, ssmax, slow, Documents::one};
        AttentionValues x = make_attention(c);
        for (double& each : x.q.at) each = 0;
        for (double& each : x.ssmax_scale.at) each = sign;
        CHECK(check_promise(device, dtype, c, x, 1e-2) > 0.1);
      }
    }
  });
}

TEST_CASE("attention skipping: one far key holds all the mass") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const PriorKind* prior : {&kNoPrior, &kRetrieval}) {
      for (const Index far : {3, 70, 200, 383}) {
        const AttentionCase c{1, 200, 1536, 2, 2, 8, Ssmax::full, *prior, Documents::one};
        AttentionValues x = make_attention(c);
        for (double& each : x.ssmax_scale.at) each = 1;
        // Every query looks for this key; the others point the other way.
        for (Index i = 0; i < x.q.count(); ++i) x.q[i] = 1 + 0.1 * x.q[i];
        for (Index i = 0; i < x.k.count(); ++i) x.k[i] = -1 + 0.1 * x.k[i];
        for (Index e = 0; e < 16; ++e) x.k[far * 16 + e] = 3;
        const double share = check_promise(device, dtype, c, x, 1e-4);
        CHECK(share > 0.2);
        // What is left out is not this key: its value is what the last rows return.
        for (Index e = 0; e < 16; ++e) x.v[far * 16 + e] = 5;
        const Outcome outcome = skip(device, 1, dtype, c, x, 1e-4);
        for (Index e = 0; e < 16; ++e) CHECK(outcome.found.at("out")[199 * 16 + e] == Approx(5).margin(0.01));
      }
    }
  });
}

TEST_CASE("attention skipping: ties and equal keys are all kept") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{1, 640, 640, 2, 1, 8, Ssmax::off, kNoPrior, Documents::one};
    AttentionValues x = make_attention(c);
    for (Index i = 0; i < x.k.count(); ++i) x.k[i] = x.k[i % 8];
    const Outcome outcome = skip(device, 2, dtype, c, x, 1e-2);
    CHECK(largest(outcome.found.at("skipped")) == 0);
    check_promise(device, dtype, c, x, 1e-2);
  });
}

TEST_CASE("attention skipping: a block with a NaN or an infinity in it is computed") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{1, 640, 640, 2, 2, 8, Ssmax::full, kLocal, Documents::one};
    AttentionValues x = make_attention(c);
    x.v[100 * 16] = std::nan("");
    x.k[150 * 16 + 8] = std::nan("");
    const Outcome outcome = skip(device, 2, dtype, c, x, 1e-2);
    const Values& dense = outcome.dense.at("out");
    const Values& found = outcome.found.at("out");
    for (Index i = 0; i < found.count(); ++i) CHECK(std::isnan(found[i]) == std::isnan(dense[i]));
  });
}

TEST_CASE("attention skipping: off is dense to the bit, and threads change nothing") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{1, 640, 640, 2, 2, 8, Ssmax::full, kLocal, Documents::one};
    const AttentionValues x = make_attention(c);
    const Outcome off = skip(device, 1, dtype, c, x, 0);
    CHECK(largest(off.found.at("skipped")) == 0);
    const Outcome one = skip(device, 1, dtype, c, x, 1e-3);
    const Outcome two = skip(device, 2, dtype, c, x, 1e-3);
    CHECK(one.found.at("out").at == two.found.at("out").at);
    CHECK(one.found.at("skipped").at == two.found.at("skipped").at);
    // Nothing to gain, nothing changed: without a prior these queries need every block.
    const AttentionCase flat{1, 640, 640, 2, 2, 8, Ssmax::off, kNoPrior, Documents::one};
    const AttentionValues y = make_attention(flat);
    CHECK(skip(device, 1, dtype, flat, y, 1e-6).found.at("out").at ==
          skip(device, 1, dtype, flat, y, 0).found.at("out").at);
  });
}
