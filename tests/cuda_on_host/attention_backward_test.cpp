// boxes: kernels
// The CUDA kernels of attention's gradients themselves, compiled for the host, against ref.
#include "cuda_on_host/attention_run.h"

using namespace bam;
using namespace bam::test;

namespace {

constexpr DType kDTypes[] = {DType::bf16, DType::f32};
constexpr Ssmax kSsmax[] = {Ssmax::off, Ssmax::content, Ssmax::full};

// What forward left and the loss sends back, besides the inputs; an empty gradient is frozen.
struct Backward {
  AttentionCase c;
  AttentionValues x;
  Values out, lse, dout, dprior, dssmax_scale;
};

Backward make_backward(const AttentionCase& c, const AttentionValues& x, DType dtype) {
  const auto forward = attention_truth(c, x, dtype);
  Backward b{c, x, forward.at("out"), forward.at("lse"), normal(x.q.shape, 5), {}, {}};
  if (!c.prior.heads.empty()) b.dprior = normal(x.prior.shape, 6);
  if (c.ssmax != Ssmax::off) b.dssmax_scale = normal({c.heads}, 7);
  return b;
}

std::map<std::string, Values> truth_of(const Backward& b, DType dtype) {
  return run_on_ref([&](Bench& bench) {
    const AttentionValues& x = b.x;
    const auto added_to = [&](const char* name, const Values& start) {
      return start.at.empty() ? TensorView{} : bench.inout(name, start, DType::f32, {});
    };
    bench->attention_backward({.q = bench.in(x.q, dtype),
                               .k = bench.in(x.k, dtype),
                               .v = bench.in(x.v, dtype),
                               .prior = bench.optional_in(x.prior),
                               .first_key = bench.in(x.first_key, DType::i32),
                               .ssmax_scale = bench.optional_in(x.ssmax_scale),
                               .ssmax = b.c.ssmax,
                               .out = bench.in(b.out),
                               .lse = bench.in(b.lse),
                               .dout = bench.in(b.dout, dtype),
                               .dq = bench.out("dq", x.q.shape, dtype, {}),
                               .dk = bench.out("dk", x.k.shape, dtype, {}),
                               .dv = bench.out("dv", x.k.shape, dtype, {}),
                               .dprior = added_to("dprior", b.dprior),
                               .dssmax_scale = added_to("dssmax_scale", b.dssmax_scale)});
  });
}

std::vector<Result> run_backward(const Backward& b, DType dtype, Index shift) {
  AttentionOperands operands(b.c, b.x, dtype, shift);
  Operand out(b.out, DType::f32, shift), lse(b.lse, DType::f32, shift), dout(b.dout, dtype, shift);
  Operand dq = garbage(b.x.q.shape, dtype, shift), dk = garbage(b.x.k.shape, dtype, shift),
          dv = garbage(b.x.k.shape, dtype, shift);
  Operand dprior(b.dprior, DType::f32, shift), dssmax_scale(b.dssmax_scale, DType::f32, shift);
  cuda::AttentionBackward call{.in = operands.in,
                               .out = out.as<float>(),
                               .lse = lse.as<float>(),
                               .dout = dout.data(),
                               .dq = dq.data(),
                               .dk = dk.data(),
                               .dv = dv.data(),
                               .dprior = dprior.as<float>(),
                               .dssmax_scale = dssmax_scale.as<float>(),
                               .scratch = nullptr};
  ScratchMemory scratch(cuda::attention_backward_scratch(call));
  call.scratch = scratch.data();
  cuda::attention_backward(call, nullptr);
  REQUIRE((operands.are_untouched() && scratch.is_untouched()));
  for (const Operand* each : {&out, &lse, &dout}) REQUIRE(each->is_untouched(true));
  for (const Operand* each : {&dq, &dk, &dv, &dprior, &dssmax_scale}) REQUIRE(each->is_untouched(false));
  std::vector<Result> results = {dq.result("dq", {}), dk.result("dk", {}), dv.result("dv", {})};
  if (!b.dprior.at.empty()) results.push_back(dprior.result("dprior", {}));
  if (!b.dssmax_scale.at.empty()) results.push_back(dssmax_scale.result("dssmax_scale", {}));
  return results;
}

// The bounds of the plain float loop, and what dp - delta leaves where they cancel: both are sums of d products of
// normal numbers, of size sqrt(d), and off by about half a roundoff of that. Where tensor cores are fed p and dl
// rounded to bf16, 2^-9 of each term of a sum, the terms being a few times as large as the sum's largest entry.
void check_values(const Backward& b, DType dtype, Index shift = 0) {
  INFO(b.c << " " << name_of(dtype) << " shift " << shift);
  const auto truth = truth_of(b, dtype);
  const auto t =
      attention_gradient_tolerances(dtype, b.c.batch * b.c.queries, b.c.dim, logit_size(b.c, b.x.first_key, b.lse));
  const double cancelled = 0.5 * roundoff(DType::f32) * std::sqrt(static_cast<double>(b.c.dim));
  const Tolerance terms{.of_largest = dtype == DType::bf16 ? 4 * 0x1p-9 : 0, .absolute = cancelled};
  const std::map<std::string, Tolerance> tolerances = {{"dq", t.dq + terms},
                                                       {"dk", t.dk + terms},
                                                       {"dv", t.dv + terms},
                                                       {"dprior", t.dprior},
                                                       {"dssmax_scale", t.dssmax_scale}};
  for (Result& each : run_backward(b, dtype, shift)) {
    each.tolerance = tolerances.at(each.name);
    CHECK(difference(each, truth.at(each.name)) == "");
  }
}

void check_backward(const AttentionCase& c, DType dtype, Index shift = 0) {
  check_values(make_backward(c, make_attention(c), dtype), dtype, shift);
}

}  // namespace

TEST_CASE("cuda on host: attention's gradients, every prior, SSMax form and cut into documents") {
  for (const DType dtype : kDTypes) {
    for (const PriorKind* prior : {&kNoPrior, &kAlibi, &kSteep, &kShifted, &kOverflowing}) {
      for (const Ssmax ssmax : kSsmax) {
        for (const Documents documents : {Documents::one, Documents::many, Documents::single, Documents::window}) {
          check_backward({1, 80, 80, 2, 1, 16, ssmax, *prior, documents}, dtype);
        }
      }
    }
  }
}

TEST_CASE("cuda on host: attention's gradients, lengths around a tile's edge") {
  for (const DType dtype : kDTypes) {
    for (const Index length : {0, 1, 2, 31, 33, 63, 64, 65, 128, 129, 200}) {
      check_backward({1, length, length, 1, 1, 32, Ssmax::full, kAlibi, Documents::one}, dtype);
      check_backward({1, length, length, 2, 2, 16, Ssmax::off, kShifted, Documents::many}, dtype);
    }
    check_backward({3, 300, 300, 2, 1, 16, Ssmax::full, kAlibi, Documents::many}, dtype);
    check_backward({0, 5, 5, 2, 2, 16, Ssmax::full, kAlibi, Documents::one}, dtype);
  }
}

TEST_CASE("cuda on host: attention's gradients, every head dimension, grouped queries") {
  for (const Index dim : {1, 7, 16, 24, 32, 33, 48, 64, 100, 128, 160, 256}) {
    check_backward({1, 70, 70, 4, 2, dim, Ssmax::full, kAlibi, Documents::many}, DType::bf16);
    check_backward({1, 40, 40, 6, 2, dim, Ssmax::content, kSteep, Documents::many}, DType::f32);
  }
}

TEST_CASE("cuda on host: attention's gradients, tensors that are not aligned, gradients that are frozen") {
  for (const DType dtype : kDTypes) {
    const AttentionCase c{2, 70, 70, 4, 2, 32, Ssmax::full, kAlibi, Documents::many};
    check_backward(c, dtype, 1);
    for (const bool prior : {false, true}) {
      Backward b = make_backward(c, make_attention(c), dtype);
      (prior ? b.dprior : b.dssmax_scale) = {};
      check_values(b, dtype);
    }
  }
}

TEST_CASE("cuda on host: attention's gradients, a pair that is not visible is never touched") {
  for (const DType dtype : kDTypes) {
    for (const double odd : {std::nan(""), HUGE_VAL}) {
      const AttentionCase c{1, 150, 150, 2, 2, 16, Ssmax::full, kAlibi, Documents::one};
      AttentionValues x = make_attention(c);
      for (Index i = 0; i < 150; ++i) x.first_key[i] = i < 37 ? 0 : (i < 90 ? 37 : 90);
      for (Index e = 0; e < 32; ++e) x.v[5 * 32 + e] = x.v[149 * 32 + e] = odd;
      for (Index e = 0; e < 16; ++e) x.k[36 * 32 + e] = odd;
      x.q[50 * 32 + 17] = odd;
      Backward b = make_backward(c, x, dtype);
      b.dout[60 * 32 + 3] = std::nan("");
      check_values(b, dtype);
    }
  }
}

TEST_CASE("cuda on host: attention's gradients, a row with one visible key sends nothing back but dv") {
  // The rounding of p (dp - delta) would be seen in dprior, whose bounds are exact here.
  for (const DType dtype : kDTypes) {
    const AttentionCase c{1, 70, 70, 2, 2, 16, Ssmax::content, kSteep, Documents::single};
    Backward b = make_backward(c, make_attention(c), dtype);
    for (double& each : b.out.at) each += 0.5;  // nothing may depend on it
    const auto truth = truth_of(b, dtype);
    for (Result& each : run_backward(b, dtype, 0)) {
      each.tolerance = kExact;
      CHECK(difference(each, truth.at(each.name)) == "");
    }
  }
}

TEST_CASE("cuda on host: attention's gradients, the order of threads changes nothing") {
  const AttentionCase c{1, 150, 150, 2, 1, 32, Ssmax::full, kAlibi, Documents::one};
  for (const DType dtype : kDTypes) {
    const Backward b = make_backward(c, make_attention(c), dtype);
    const auto first = run_backward(b, dtype, 0);
    for (std::uint64_t seed = 2; seed < 5; ++seed) {
      cuda::on_host::set_seed(seed);
      const auto again = run_backward(b, dtype, 0);
      for (std::size_t i = 0; i < first.size(); ++i) CHECK(again[i].bytes == first[i].bytes);
    }
  }
}
