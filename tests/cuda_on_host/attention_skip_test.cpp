// boxes: kernels
// Certified skipping in the CUDA kernels, compiled for the host, against dense attention in float64.
#include <numeric>

#include "cuda_on_host/attention_run.h"

using namespace bam;
using namespace bam::test;

namespace {

const PriorKind kLocal{"local", {{1, 0, 0}, {1, -1, -0.9}, {2, -3, 0}, {3, -6, 0}}};
const PriorKind kRetrieval{"retrieval", {{-0.5, 0, 0}, {-2, 3, 0}, {-1, 1, -1.5}, {0, 0, 0}}};

Operand run_key_bounds(const AttentionValues& x, DType dtype, Index first, const Values& start) {
  Operand k(x.k, dtype), v(x.v, dtype), bounds(start, DType::f32);
  cuda::key_bounds({.k = k.data(),
                    .v = v.data(),
                    .bf16 = dtype == DType::bf16,
                    .batch = x.k.shape[0],
                    .keys = x.k.shape[1],
                    .kv_heads = x.k.shape[2],
                    .dim = x.k.shape[3],
                    .first = first,
                    .bounds = bounds.as<float>()},
                   nullptr);
  REQUIRE((k.is_untouched(true) && v.is_untouched(true) && bounds.is_untouched(false)));
  return bounds;
}

Values bounds_shape_of(const AttentionCase& c) {
  return filled({c.batch, (c.keys + kKeyBlock - 1) / kKeyBlock, c.kv_heads, 2 * c.dim}, -7);
}

struct Found {
  Values out, lse, skipped;
};

Found run_skipping(const AttentionCase& c, const AttentionValues& x, double eps, DType dtype = DType::bf16) {
  AttentionOperands operands(c, x, dtype);
  Operand bounds = run_key_bounds(x, dtype, 0, bounds_shape_of(c));
  Operand out = garbage(x.q.shape, DType::f32), lse = garbage({c.batch, c.heads, c.queries}, DType::f32),
          skipped = garbage({c.heads}, DType::f32);
  cuda::AttentionForward call{.in = operands.in,
                              .out = out.as<float>(),
                              .lse = lse.as<float>(),
                              .skip_eps = eps,
                              .key_bounds = bounds.as<float>(),
                              .skipped = skipped.as<float>(),
                              .scratch = nullptr};
  ScratchMemory scratch(cuda::attention_forward_scratch(call));
  call.scratch = scratch.data();
  cuda::attention_forward(call, nullptr);
  REQUIRE((operands.are_untouched() && scratch.is_untouched() && skipped.is_untouched(false)));
  return {out.values(), lse.values(), skipped.values()};
}

double mean(const Values& x) {
  return std::accumulate(x.at.begin(), x.at.end(), 0.0) / static_cast<double>(x.count());
}

// The promise: of each row less than eps of the mass is gone, and its output moves by less than 2 eps max|v|, besides
// the rounding of what is kept. Returns the mean share of skipped pairs.
double check_promise(const AttentionCase& c, const AttentionValues& x, double eps, DType dtype = DType::bf16) {
  INFO(c << " " << name_of(dtype) << " eps " << eps);
  const auto truth = attention_truth(c, x, dtype);
  const Found found = run_skipping(c, x, eps, dtype);
  const double rounding = 4e-6 * logit_size(c, x.first_key, truth.at("lse"));
  double lost = 0;
  for (Index i = 0; i < found.lse.count(); ++i) {
    const Index t = i % c.queries;
    const Index batch = i / (c.heads * c.queries);
    // The lse of a row with one key is that key's logit, which may be anything.
    if (x.first_key[batch * c.queries + t] == static_cast<double>(c.keys - c.queries + t)) continue;
    lost = std::max(lost, -std::expm1(found.lse[i] - truth.at("lse")[i]));
  }
  CHECK(lost < eps + rounding);
  double largest = 0;
  for (const double each : x.v.at) largest = std::max(largest, std::abs(each));
  double moved = 0;
  for (Index i = 0; i < found.out.count(); ++i) {
    moved = std::max(moved, std::abs(found.out[i] - truth.at("out")[i]));
  }
  CHECK(moved < (2 * eps + 4 * rounding) * largest + probability_rounding(x.v, dtype).absolute);
  return mean(found.skipped);
}

}  // namespace

TEST_CASE("cuda on host: bounds of key blocks") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    for (const auto& range : {std::pair<Index, Index>{1, 0}, {64, 0}, {65, 64}, {200, 130}, {128, 128}}) {
      const Index keys = range.first, first = range.second;  // clang before 16 hands no names of parts to a lambda
      const AttentionCase c{2, 1, keys, 3, 3, keys == 65 ? 160 : 19};
      AttentionValues x = make_attention(c);
      if (keys == 200) x.k[190 * 3 * c.dim] = std::nan("");
      if (keys == 200) x.v[(200 + 140) * 3 * c.dim + c.dim] = HUGE_VAL;
      const Values start = bounds_shape_of(c);
      const auto truth = run_on_ref([&](Bench& bench) {
        bench->key_bounds(
            {bench.in(x.k, dtype), bench.in(x.v, dtype), first, bench.inout("bounds", start, DType::f32, kExact)});
      });
      CHECK(difference(run_key_bounds(x, dtype, first, start).result("bounds", kExact), truth.at("bounds")) == "");
    }
  }
}

TEST_CASE("cuda on host: skipping, no row loses more than eps") {
  for (const PriorKind* prior : {&kNoPrior, &kLocal, &kRetrieval, &kShifted, &kOverflowing}) {
    for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
      for (const Documents documents : {Documents::one, Documents::many}) {
        const AttentionCase c{1, 150, 850, 4, 2, 16, ssmax, *prior, documents};
        const double share = check_promise(c, make_attention(c), 1e-2);
        if (prior == &kLocal && documents == Documents::one) CHECK(share > 0.3);
      }
    }
  }
  const AttentionCase wide{1, 20, 900, 2, 1, 128, Ssmax::full, kLocal, Documents::one};
  CHECK(check_promise(wide, make_attention(wide), 1e-4) > 0.3);
  const AttentionCase two{2, 70, 900, 2, 2, 64, Ssmax::content, kLocal, Documents::window};
  check_promise(two, make_attention(two), 1e-6);
}

TEST_CASE("cuda on host: skipping, no row of few queries loses more than eps") {
  for (const PriorKind* prior : {&kNoPrior, &kLocal, &kRetrieval, &kShifted}) {
    for (const Index queries : {1, 5}) {
      const AttentionCase c{1, queries, 1500, 4, queries == 5 ? 2 : 4, 16, Ssmax::full, *prior, Documents::one};
      const double share = check_promise(c, make_attention(c), 1e-3);
      if (prior == &kLocal) CHECK(share > 0.5);
    }
  }
  const AttentionCase wide{2, 1, 1000, 8, 1, 128, Ssmax::content, kLocal, Documents::many};
  check_promise(wide, make_attention(wide), 1e-4);
}

TEST_CASE("cuda on host: skipping, the prior alone decides") {
  // Without content the bounds are tight, and an error of a block of distances shows: a slope that takes hundreds of
  // keys to fall by ln(n / eps), and peaks 150 keys back, for either sign.
  const double peak = -std::asinh(75.0);
  const PriorKind slow{"slow", {{1, std::log(0.012), 0}, {2, -9, peak}, {-0.5, 4, 0}, {-0.5, -3, peak}}};
  for (const Ssmax ssmax : {Ssmax::off, Ssmax::full}) {
    for (const double sign : {1.0, -1.0}) {
      const AttentionCase c{1, 100, 1500, 4, 4, 16, ssmax, slow, Documents::one};
      AttentionValues x = make_attention(c);
      for (double& each : x.q.at) each = 0;
      for (double& each : x.ssmax_scale.at) each = sign;
      CHECK(check_promise(c, x, 1e-2) > 0.1);
    }
  }
}

TEST_CASE("cuda on host: skipping, one far key holds all the mass") {
  for (const PriorKind* prior : {&kNoPrior, &kRetrieval}) {
    for (const Index far : {3, 70, 200, 383}) {
      const AttentionCase c{1, 200, 1536, 2, 2, 16, Ssmax::full, *prior, Documents::one};
      AttentionValues x = make_attention(c);
      for (double& each : x.ssmax_scale.at) each = 1;
      // Every query looks for this key; the others point the other way.
      for (Index i = 0; i < x.q.count(); ++i) x.q[i] = 1 + 0.1 * x.q[i];
      for (Index i = 0; i < x.k.count(); ++i) x.k[i] = -1 + 0.1 * x.k[i];
      for (Index e = 0; e < 32; ++e) x.k[far * 32 + e] = 3;
      CHECK(check_promise(c, x, 1e-4) > 0.3);
    }
  }
}

TEST_CASE("cuda on host: skipping, a negative factor and keys of both signs") {
  const AttentionCase c{1, 70, 1100, 2, 2, 16, Ssmax::full, kNoPrior, Documents::one};
  AttentionValues x = make_attention(c);
  x.ssmax_scale.at = {-2, 2};
  // Alike queries, and blocks of alike keys, so that bounds are tight and the content decides.
  for (Index i = c.queries * 32 - 1; i >= 0; --i) x.q[i] = 4 * x.q[i % 32] + 0.1 * x.q[i];
  for (Index j = c.keys * 32 - 1; j >= 0; --j) x.k[j] = x.k[j / (64 * 32) * 64 * 32 + j % 32] + 0.02 * x.k[j];
  CHECK(check_promise(c, x, 1e-4) > 0.3);
}

TEST_CASE("cuda on host: skipping, what is not finite is never skipped") {
  const AttentionCase c{1, 100, 1000, 2, 1, 16, Ssmax::off, kLocal, Documents::one};
  AttentionValues x = make_attention(c);
  for (Index e = 0; e < 16; ++e) x.v[130 * 16 + e] = std::nan("");
  const Found found = run_skipping(c, x, 1e-4);
  for (const double each : found.out.at) CHECK(std::isnan(each));
  CHECK(found.skipped.at == std::vector<double>{0, 0});
  CHECK(run_skipping(c, make_attention(c), 0.0).skipped.at == std::vector<double>{0, 0});
}

TEST_CASE("cuda on host: skipping, the share is counted in visible pairs") {
  // Nothing but the prior, which falls by 20 a key: a block of 128 queries needs its own tiles, and always has the one
  // before and the first.
  const PriorKind cliff{"cliff", {{1, std::log(20.0), 0}}};
  const AttentionCase c{1, 256, 640, 1, 1, 16, Ssmax::off, cliff, Documents::one};
  AttentionValues x = make_attention(c);
  for (double& each : x.q.at) each = 0;
  // Block 0 stands at 384: tiles 1 to 4 are left out; block 1 at 512: tiles 1 to 6. Row i sees i + 1 keys.
  const double left_out = 128 * 64 * (4 + 6);
  double visible = 0;
  for (Index i = 384; i < 640; ++i) visible += static_cast<double>(i + 1);
  CHECK(run_skipping(c, x, 1e-6).skipped[0] == Approx(left_out / visible));
  // A query of its own, at 1087: tiles 1 to 14 of 17.
  const AttentionCase last{1, 1, 1088, 1, 1, 16, Ssmax::off, cliff, Documents::one};
  AttentionValues y = make_attention(last);
  for (double& each : y.q.at) each = 0;
  CHECK(run_skipping(last, y, 1e-6).skipped[0] == Approx(14.0 * 64 / 1088));
}

// The plain kernels: blocks of 32 queries, any head dimension, decoding too.
TEST_CASE("cuda on host: plain skipping, no row loses more than eps") {
  for (const PriorKind* prior : {&kNoPrior, &kLocal, &kRetrieval, &kShifted, &kOverflowing}) {
    for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
      for (const Documents documents : {Documents::one, Documents::many}) {
        const AttentionCase c{1, 40, 700, 4, 2, 8, ssmax, *prior, documents};
        const double share = check_promise(c, make_attention(c), 1e-2, DType::f32);
        if (prior == &kLocal && documents == Documents::one) CHECK(share > 0.3);
      }
    }
    for (const Index queries : {1, 5}) {
      const AttentionCase few{2, queries, 900, 4, 2, 24, Ssmax::full, *prior, Documents::one};
      const double share = check_promise(few, make_attention(few), 1e-3, DType::bf16);
      if (prior == &kLocal) CHECK(share > 0.3);
    }
  }
  const AttentionCase wide{1, 20, 900, 2, 1, 160, Ssmax::full, kLocal, Documents::one};
  CHECK(check_promise(wide, make_attention(wide), 1e-4, DType::f32) > 0.3);
}

TEST_CASE("cuda on host: plain skipping, the content decides, for factors of both signs") {
  for (const Index far : {3, 70, 383}) {
    const AttentionCase c{1, 70, 1536, 2, 2, 16, Ssmax::full, kNoPrior, Documents::one};
    AttentionValues x = make_attention(c);
    x.ssmax_scale.at = {1, -1};
    // Every query looks for this key, of one head that way and of the other the other way; all others point away.
    for (Index i = 0; i < x.q.count(); ++i) x.q[i] = 1 + 0.1 * x.q[i];
    for (Index i = 0; i < x.k.count(); ++i) x.k[i] = (i / 16 % 2 == 0 ? -1 : 1) + 0.1 * x.k[i];
    for (Index e = 0; e < 32; ++e) x.k[far * 32 + e] = e < 16 ? 3 : -3;
    CHECK(check_promise(c, x, 1e-4, DType::f32) > 0.3);
  }
}

TEST_CASE("cuda on host: plain skipping, what is not finite is never skipped, and the share is in visible pairs") {
  const AttentionCase c{1, 40, 700, 2, 1, 8, Ssmax::off, kLocal, Documents::one};
  AttentionValues x = make_attention(c);
  for (Index e = 0; e < 8; ++e) x.v[130 * 8 + e] = std::nan("");
  for (const double each : run_skipping(c, x, 1e-4, DType::f32).out.at) CHECK(std::isnan(each));
  const PriorKind cliff{"cliff", {{1, std::log(20.0), 0}}};
  const AttentionCase one{1, 64, 640, 1, 1, 16, Ssmax::off, cliff, Documents::one};
  AttentionValues y = make_attention(one);
  for (double& each : y.q.at) each = 0;
  // Both blocks, at 576 and 608, leave out tiles 1 to 7. Row i sees i + 1 keys.
  double visible = 0;
  for (Index i = 576; i < 640; ++i) visible += static_cast<double>(i + 1);
  CHECK(run_skipping(one, y, 1e-6, DType::f32).skipped[0] == Approx(64.0 * 64 * 7 / visible));
}
