// boxes: kernels
// The CUDA kernels of attention forward themselves, compiled for the host, against ref.
#include "cuda_on_host/attention_run.h"

using namespace bam;
using namespace bam::test;

namespace {

constexpr DType kDTypes[] = {DType::bf16, DType::f32};
constexpr Ssmax kSsmax[] = {Ssmax::off, Ssmax::content, Ssmax::full};

}  // namespace

TEST_CASE("cuda on host: attention, every prior, SSMax form and cut into documents") {
  for (const DType dtype : kDTypes) {
    for (const PriorKind* prior : {&kNoPrior, &kAlibi, &kSteep, &kShifted, &kOverflowing}) {
      for (const Ssmax ssmax : kSsmax) {
        for (const Documents documents : {Documents::one, Documents::many, Documents::single, Documents::window}) {
          check_forward({1, 80, 80, 2, 1, 16, ssmax, *prior, documents}, dtype);
        }
      }
    }
  }
}

TEST_CASE("cuda on host: attention, lengths around a tile's edge, queries at the end of the keys") {
  for (const DType dtype : kDTypes) {
    for (const Index length : {0, 1, 2, 31, 33, 63, 64, 65, 128, 129, 200}) {
      check_forward({1, length, length, 1, 1, 32, Ssmax::full, kAlibi, Documents::one}, dtype);
    }
    for (const auto& [queries, keys] :
         {std::pair<Index, Index>{1, 200}, {3, 64}, {17, 18}, {70, 150}, {64, 129}, {130, 300}}) {
      check_forward({2, queries, keys, 2, 2, 16, Ssmax::content, kSteep, Documents::one}, dtype);
      check_forward({1, queries, keys, 2, 2, 16, Ssmax::full, kAlibi, Documents::window}, dtype);
      check_forward({1, queries, keys, 4, 2, 16, Ssmax::off, kShifted, Documents::many}, dtype);
    }
    check_forward({0, 5, 5, 2, 2, 16, Ssmax::off, kNoPrior, Documents::one}, dtype);
  }
}

TEST_CASE("cuda on host: attention, few queries over keys that are split") {
  for (const auto& [queries, keys] : {std::pair<Index, Index>{1, 600}, {1, 1500}, {5, 1030}, {16, 700}}) {
    for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
      check_forward({2, queries, keys, 6, 2, 16, Ssmax::full, kSteep, documents}, DType::bf16);
    }
  }
  check_forward({1, 1, 1500, 4, 4, 64, Ssmax::content, kShifted, Documents::one}, DType::bf16);
  check_forward({1, 3, 900, 12, 1, 128, Ssmax::off, kNoPrior, Documents::one}, DType::bf16);
  // A key of the first document that is not a number, and a hole of keys with weight 0.
  const AttentionCase c{1, 2, 1100, 4, 2, 16, Ssmax::off, kAlibi, Documents::one};
  AttentionValues x = make_attention(c);
  for (double& each : x.first_key.at) each = 130;
  for (Index e = 0; e < 64; ++e) x.k[64 * 32 + e] = x.v[129 * 32 + e % 32] = x.v[128 * 32 + e % 32] = std::nan("");
  for (Index n = 200; n < 600; ++n) x.prior[n] = -HUGE_VAL;
  check_forward(c, x, DType::bf16);
}

TEST_CASE("cuda on host: attention, every head dimension, grouped queries") {
  for (const Index dim : {1, 7, 16, 24, 32, 33, 48, 64, 100, 128, 160, 256}) {
    check_forward({1, 70, 70, 4, 2, dim, Ssmax::full, kAlibi, Documents::many}, DType::bf16);
    check_forward({1, 40, 40, 4, 2, dim, Ssmax::content, kSteep, Documents::many}, DType::f32);
  }
  const AttentionCase wide{1, 8, 8, 1, 1, 257, Ssmax::off, kNoPrior, Documents::one};
  CHECK_THROWS_WITH(run_forward(wide, make_attention(wide), DType::f32),
                    "cuda: no attention for heads of 257, expected at most 256");
}

TEST_CASE("cuda on host: attention, tensors that are not aligned") {
  check_forward({2, 70, 90, 4, 2, 32, Ssmax::full, kAlibi, Documents::many}, DType::bf16, 1);
  check_forward({2, 70, 90, 4, 2, 32, Ssmax::full, kAlibi, Documents::many}, DType::f32, 1);
}

TEST_CASE("cuda on host: attention, a key that is not visible is never touched") {
  for (const DType dtype : kDTypes) {
    for (const double odd : {std::nan(""), HUGE_VAL}) {
      AttentionCase c{1, 150, 150, 2, 2, 16, Ssmax::full, kNoPrior, Documents::one};
      AttentionValues x = make_attention(c);
      for (Index i = 0; i < 150; ++i) x.first_key[i] = i < 37 ? 0 : 37;
      for (const Index position : {Index{5}, Index{36}, Index{140}, Index{149}}) {
        for (Index e = 0; e < 32; ++e) x.v[position * 32 + e] = e == 3 ? std::nan("") : odd;
        for (Index e = 0; e < 16; ++e) x.k[position * 32 + e] = std::nan("");
      }
      x.q[50 * 32 + 17] = std::nan("");
      check_forward(c, x, dtype);
    }
  }
}

TEST_CASE("cuda on host: attention, scores far beyond what exp can hold, and logits of -inf") {
  for (const DType dtype : kDTypes) {
    AttentionCase c{1, 150, 150, 2, 2, 16, Ssmax::off, kAlibi, Documents::one};
    AttentionValues x = make_attention(c);
    for (double& each : x.q.at) each *= 60;
    for (double& each : x.prior.at) each = each * 100 - 3000;  // every key of every row far below -88
    check_forward(c, x, dtype);
    x = make_attention(c);
    for (Index n = 0; n < 100; ++n) x.prior[n] = -HUGE_VAL;  // rows 0 to 99 of head 0 have no other distances
    check_forward(c, x, dtype);
    x = make_attention(c);
    x.prior[3] = HUGE_VAL;
    x.prior[c.keys + 3 + 5] = std::nan("");
    check_forward(c, x, dtype);
  }
}

TEST_CASE("cuda on host: attention, the order of threads changes nothing") {
  const AttentionCase c{1, 150, 150, 1, 1, 32, Ssmax::full, kAlibi, Documents::one};
  const AttentionValues x = make_attention(c);
  for (const DType dtype : kDTypes) {
    const std::string first = run_forward(c, x, dtype)[0].bytes;
    for (std::uint64_t seed = 2; seed < 6; ++seed) {
      cuda::on_host::set_seed(seed);
      CHECK(run_forward(c, x, dtype)[0].bytes == first);
    }
  }
}
