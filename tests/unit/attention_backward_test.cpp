// boxes: kernels
#include "support/attention_case.h"
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

// What forward left and the loss sends back, besides the inputs.
struct Backward {
  AttentionValues x;
  Values out, lse, dout, dprior, dssmax_scale;
  AttentionGradientTolerances tolerances;
};

Call forward_call(const AttentionCase& c, const AttentionValues& x, DType dtype) {
  return [&c, &x, dtype](Bench& bench) {
    bench->attention_forward({.q = bench.in(x.q, dtype),
                              .k = bench.in(x.k, dtype),
                              .v = bench.in(x.v, dtype),
                              .prior = bench.optional_in(x.prior),
                              .first_key = bench.in(x.first_key, DType::i32),
                              .ssmax_scale = bench.optional_in(x.ssmax_scale),
                              .ssmax = c.ssmax,
                              .out = bench.out("out", x.q.shape, DType::f64, kExact),
                              .lse = bench.out("lse", {c.batch, c.heads, c.queries}, DType::f64, kExact)});
  };
}

Backward make_backward(const AttentionCase& c, const AttentionValues& x, DType dtype) {
  const auto forward = run_on_ref(forward_call(c, x, dtype));
  Backward b{x, forward.at("out"), forward.at("lse"), normal(x.q.shape, 5), {}, {}, {}};
  if (!c.prior.heads.empty()) b.dprior = normal(x.prior.shape, 6);
  if (c.ssmax != Ssmax::off) b.dssmax_scale = normal({c.heads}, 7);
  b.tolerances = attention_gradient_tolerances(dtype, c.batch * c.queries, c.dim, logit_size(c, x.first_key, b.lse));
  return b;
}

void backward(Bench& bench, const AttentionCase& c, const Backward& b, DType dtype) {
  const auto& t = b.tolerances;
  const bool prior = b.dprior.count() > 0;
  const bool ssmax = b.dssmax_scale.count() > 0;
  bench->attention_backward(
      {.q = bench.in(b.x.q, dtype),
       .k = bench.in(b.x.k, dtype),
       .v = bench.in(b.x.v, dtype),
       .prior = bench.optional_in(b.x.prior),
       .first_key = bench.in(b.x.first_key, DType::i32),
       .ssmax_scale = bench.optional_in(b.x.ssmax_scale),
       .ssmax = c.ssmax,
       .out = bench.in(b.out),
       .lse = bench.in(b.lse),
       .dout = bench.in(b.dout, dtype),
       .dq = bench.out("dq", b.x.q.shape, dtype, t.dq),
       .dk = bench.out("dk", b.x.k.shape, dtype, t.dk),
       .dv = bench.out("dv", b.x.v.shape, dtype, t.dv),
       .dprior = prior ? bench.inout("dprior", b.dprior, DType::f32, t.dprior) : TensorView{},
       .dssmax_scale = ssmax ? bench.inout("dssmax_scale", b.dssmax_scale, DType::f32, t.dssmax_scale) : TensorView{}});
}

// What cancels in dp - delta, sums of d products of size sqrt(d); and where p and dl are rounded to bf16, 2^-9 of each
// term of a sum, the terms being a few times as large as the sum's largest entry.
void allow_for(const std::string& device, DType dtype, Index dim, AttentionGradientTolerances& tolerances) {
  if (device == "cpu") return;
  const Tolerance terms{.of_largest = in_tensor_cores(device, dtype, dim) ? 4 * 0x1p-9 : 0,
                        .absolute = 0.5 * roundoff(DType::f32) * std::sqrt(static_cast<double>(dim))};
  for (Tolerance* each : {&tolerances.dq, &tolerances.dk, &tolerances.dv}) *each = *each + terms;
}

void check_case(const std::string& device, DType dtype, const AttentionCase& c) {
  INFO(c);
  Backward b = make_backward(c, make_attention(c), dtype);
  allow_for(device, dtype, c.dim, b.tolerances);
  compare(device, [&](Bench& bench) { backward(bench, c, b, dtype); });
}

const PriorKind* const kPriors[] = {&kNoPrior, &kAlibi, &kSteep, &kShifted, &kOverflowing};
constexpr Ssmax kSsmax[] = {Ssmax::off, Ssmax::content, Ssmax::full};

}  // namespace

TEST_CASE("attention_backward: every prior, SSMax form and cut into documents") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const PriorKind* prior : kPriors) {
      for (const Ssmax ssmax : kSsmax) {
        for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
          check_case(device, dtype, {2, 70, 70, 5, 5, 16, ssmax, *prior, documents});
        }
      }
    }
  });
}

TEST_CASE("attention_backward: every length around a tile's edge") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index length : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 333}) {
      check_case(device, dtype, {1, length, length, 2, 1, 8, Ssmax::full, kSteep, Documents::one});
      check_case(device, dtype, {1, length, length, 1, 1, 10, Ssmax::off, kNoPrior, Documents::many});
    }
    check_case(device, dtype, {1, 1000, 1000, 2, 2, 32, Ssmax::full, kAlibi, Documents::many});
    check_case(device, dtype, {0, 5, 5, 2, 2, 8, Ssmax::full, kAlibi, Documents::one});
  });
}

TEST_CASE("attention_backward: every head dimension, grouped queries") {
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Index dim : {1, 2, 7, 8, 10, 16, 24, 32, 33, 48, 64, 100, 128, 160}) {
      check_case(device, dtype, {1, 35, 35, 4, 2, dim, Ssmax::content, kSteep, Documents::many});
    }
    for (const auto& [heads, kv_heads] : {std::pair<Index, Index>{6, 1}, {6, 2}, {6, 3}, {6, 6}, {1, 1}, {12, 4}}) {
      check_case(device, dtype, {2, 40, 40, heads, kv_heads, 24, Ssmax::full, kShifted, Documents::one});
    }
  });
}

TEST_CASE("attention_backward: what is frozen is skipped") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{1, 50, 50, 2, 2, 16, Ssmax::full, kSteep, Documents::one};
    for (const bool prior : {false, true}) {
      Backward b = make_backward(c, make_attention(c), dtype);
      allow_for(device, dtype, c.dim, b.tolerances);
      (prior ? b.dprior : b.dssmax_scale) = {};
      compare(device, [&](Bench& bench) { backward(bench, c, b, dtype); });
    }
  });
}

TEST_CASE("attention_backward: a row with one visible key sends nothing back but dv") {
  // Its p is 1 whatever the logit. The rounding of p (dp - delta) would be seen in dprior, whose bounds are exact here.
  for_each_backend([](const std::string& device, DType dtype) {
    for (const Ssmax ssmax : kSsmax) {
      const AttentionCase c{2, 65, 65, 4, 2, 16, ssmax, kSteep, Documents::single};
      Backward b = make_backward(c, make_attention(c), dtype);
      allow_for(device, dtype, c.dim, b.tolerances);
      for (double& each : b.out.at) each *= 1.001;  // an out that is not quite v, as rounding would leave it
      b.tolerances.dq = b.tolerances.dk = b.tolerances.dprior = b.tolerances.dssmax_scale = kExact;
      b.dprior = rounded(b.dprior, DType::f32);
      b.dssmax_scale = rounded(b.dssmax_scale, DType::f32);
      compare(device, [&](Bench& bench) { backward(bench, c, b, dtype); });
    }
  });
}

TEST_CASE("attention_backward: a key that is not visible is never touched") {
  for_each_backend([](const std::string& device, DType dtype) {
    const AttentionCase c{2, 90, 90, 2, 2, 16, Ssmax::full, kSteep, Documents::one};
    AttentionValues x = make_attention(c);
    for (Index i = 0; i < 180; ++i) x.first_key[i] = i % 90 < 37 ? 0 : 37;
    Backward b = make_backward(c, x, dtype);
    allow_for(device, dtype, c.dim, b.tolerances);
    for (Index e = 0; e < 32; ++e) b.x.k[5 * 32 + e] = b.x.v[(90 + 36) * 32 + e] = std::nan("");
    b.dout[50 * 32 + 17] = std::nan("");
    b.dprior = b.dssmax_scale = {};  // sums over all rows: nothing but NaN
    compare(device, [&](Bench& bench) { backward(bench, c, b, dtype); });
  });
}

TEST_CASE("attention_backward: ref agrees with central differences") {
  for (const PriorKind* prior : {&kNoPrior, &kAlibi, &kShifted}) {
    for (const Ssmax ssmax : kSsmax) {
      const AttentionCase c{2, 7, 7, 4, 2, 3, ssmax, *prior, Documents::many};
      INFO(c);
      AttentionValues x = make_attention(c);
      Backward b = make_backward(c, x, DType::f32);
      const auto forward = run_unrounded(forward_call(c, x, DType::f32));
      b.out = forward.at("out");
      b.lse = forward.at("lse");
      for (double& each : b.dprior.at) each = 0;
      for (double& each : b.dssmax_scale.at) each = 0;
      auto got = run_unrounded([&](Bench& bench) { backward(bench, c, b, DType::f32); });
      const auto loss = [&] { return dot(run_unrounded(forward_call(c, x, DType::f32)).at("out"), b.dout); };
      check_gradient("q", x.q, got["dq"], loss);
      check_gradient("k", x.k, got["dk"], loss);
      check_gradient("v", x.v, got["dv"], loss);
      if (b.dprior.count() > 0) check_gradient("prior", x.prior, got["dprior"], loss);
      if (b.dssmax_scale.count() > 0) check_gradient("ssmax_scale", x.ssmax_scale, got["dssmax_scale"], loss);
    }
  }
}
