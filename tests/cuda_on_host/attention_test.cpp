// boxes: kernels
// The CUDA kernels themselves, compiled for the host, against ref.
#include <array>
#include <stdexcept>

#include "cuda_on_host/emulation.h"
#include "kernels/cuda/ops.h"
#include "support/attention_case.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

// A copy in another type between NaNs, 16-byte aligned.
template <typename T, typename Convert>
class Guarded {
 public:
  Guarded(const Values& x, Convert convert) : memory_(x.at.size() + 2 * kGuard) {
    std::memset(memory_.data(), 0xFF, memory_.size() * sizeof(T));
    for (std::size_t i = 0; i < x.at.size(); ++i) data()[i] = convert(x.at[i]);
  }
  T* data() { return memory_.data() + kGuard + (16 - address() % 16) % 16 / sizeof(T); }

 private:
  static constexpr std::size_t kGuard = 64;
  std::uintptr_t address() { return reinterpret_cast<std::uintptr_t>(memory_.data() + kGuard); }
  std::vector<T> memory_;
};

template <typename T, typename Convert>
Guarded<T, Convert> guarded(const Values& x, Convert convert) {
  return {x, convert};
}

struct Found {
  Values out, lse;
};

Found run_kernel(const AttentionCase& c, const AttentionValues& x) {
  const auto half = [](double v) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(rounded(v, DType::bf16))) >> 16);
  };
  const auto real = [](double v) { return static_cast<float>(v); };
  auto q = guarded<std::uint16_t>(x.q, half);
  auto k = guarded<std::uint16_t>(x.k, half);
  auto v = guarded<std::uint16_t>(x.v, half);
  auto prior = guarded<float>(x.prior, real);
  auto scale = guarded<float>(x.ssmax_scale, real);
  auto first_key = guarded<std::int32_t>(x.first_key, [](double value) { return static_cast<std::int32_t>(value); });
  std::vector<float> out(x.q.at.size(), -7.0F);
  std::vector<float> lse(static_cast<std::size_t>(c.batch * c.heads * c.queries), -7.0F);
  cuda::attention_forward({.q = q.data(),
                           .k = k.data(),
                           .v = v.data(),
                           .prior = x.prior.at.empty() ? nullptr : prior.data(),
                           .first_key = first_key.data(),
                           .ssmax_scale = c.ssmax == Ssmax::off ? nullptr : scale.data(),
                           .scale_prior = c.ssmax == Ssmax::full,
                           .batch = c.batch,
                           .queries = c.queries,
                           .keys = c.keys,
                           .heads = c.heads,
                           .kv_heads = c.kv_heads,
                           .dim = c.dim,
                           .distances = x.prior.at.empty() ? 0 : x.prior.shape[1],
                           .out = out.data(),
                           .lse = lse.data()},
                          nullptr);
  Found found{filled(x.q.shape, 0), filled({c.batch, c.heads, c.queries}, 0)};
  for (std::size_t i = 0; i < out.size(); ++i) found.out.at[i] = static_cast<double>(out[i]);
  for (std::size_t i = 0; i < lse.size(); ++i) found.lse.at[i] = static_cast<double>(lse[i]);
  return found;
}

std::map<std::string, Values> truth_of(const AttentionCase& c, const AttentionValues& x) {
  return run_on_ref([&](Bench& bench) {
    bench->attention_forward({.q = bench.in(x.q, DType::bf16),
                              .k = bench.in(x.k, DType::bf16),
                              .v = bench.in(x.v, DType::bf16),
                              .prior = bench.optional_in(x.prior),
                              .first_key = bench.in(x.first_key, DType::i32),
                              .ssmax_scale = bench.optional_in(x.ssmax_scale),
                              .ssmax = c.ssmax,
                              .out = bench.out("out", x.q.shape, DType::f32, {}),
                              .lse = bench.out("lse", {c.batch, c.heads, c.queries}, DType::f32, {})});
  });
}

// The bound of kernels/ops/attention.h for bf16: probabilities are rounded to bf16 before they multiply the values.
void check_case(const AttentionCase& c, const AttentionValues& x) {
  INFO(c);
  const auto truth = truth_of(c, x);
  const Found found = run_kernel(c, x);
  double largest = 0;
  for (const double each : truth.at("out").at)
    largest = std::isfinite(each) ? std::max(largest, std::abs(each)) : largest;
  double worst = 0;
  for (Index i = 0; i < found.out.count(); ++i) {
    const double expected = truth.at("out")[i];
    if (std::isnan(expected)) {
      CHECK(std::isnan(found.out[i]));
    } else {
      const double error = std::abs(found.out[i] - expected);
      worst = error <= worst ? worst : error;
    }
  }
  CHECK(worst <= 1e-2 * largest);
  const double size = logit_size(c, x.first_key, truth.at("lse"));
  for (Index i = 0; i < found.lse.count(); ++i) {
    const double expected = truth.at("lse")[i];
    if (std::isnan(expected)) continue;
    CHECK(std::abs(found.lse[i] - expected) <= 1e-5 * std::max(size, std::abs(expected)));
  }
}

void check_case(const AttentionCase& c) {
  check_case(c, make_attention(c));
}

}  // namespace

TEST_CASE("cuda on host: attention, every prior, SSMax form and cut into documents") {
  for (const PriorKind* prior : {&kNoPrior, &kAlibi, &kSteep, &kShifted}) {
    for (const Ssmax ssmax : {Ssmax::off, Ssmax::content, Ssmax::full}) {
      for (const Documents documents : {Documents::one, Documents::many, Documents::single, Documents::window}) {
        check_case({1, 80, 80, 2, 1, 16, ssmax, *prior, documents});
      }
    }
  }
}

TEST_CASE("cuda on host: attention, lengths around a tile's edge, queries at the end of the keys") {
  for (const Index length : {1, 2, 63, 64, 65, 130}) {
    check_case({1, length, length, 1, 1, 32, Ssmax::full, kAlibi, Documents::one});
  }
  for (const auto& [queries, keys] : {std::pair<Index, Index>{1, 200}, {3, 64}, {70, 150}, {64, 129}}) {
    check_case({2, queries, keys, 2, 2, 16, Ssmax::content, kSteep, Documents::one});
    check_case({1, queries, keys, 2, 2, 16, Ssmax::full, kAlibi, Documents::window});
  }
}

TEST_CASE("cuda on host: attention, every head dimension, grouped queries") {
  for (const Index dim : {16, 32, 48, 64, 128}) {
    check_case({1, 70, 70, 4, 2, dim, Ssmax::full, kAlibi, Documents::many});
  }
  AttentionCase odd{1, 8, 8, 1, 1, 24, Ssmax::off, kNoPrior, Documents::one};
  CHECK_FALSE(cuda::has_attention_for(24));
  CHECK_THROWS_WITH(run_kernel(odd, make_attention(odd)),
                    "cuda: no attention for heads of 24, expected 16, 32, 48, 64 or 128");
}

TEST_CASE("cuda on host: attention, a key that is not visible is never touched") {
  AttentionCase c{1, 90, 90, 2, 2, 16, Ssmax::full, kNoPrior, Documents::one};
  AttentionValues x = make_attention(c);
  for (Index i = 0; i < 90; ++i) x.first_key[i] = i < 37 ? 0 : 37;
  for (const Index position : {Index{5}, Index{36}, Index{89}}) {
    for (Index e = 0; e < 32; ++e) x.v[position * 32 + e] = std::nan("");
    for (Index e = 0; e < 16; ++e) x.k[position * 32 + e] = std::nan("");
  }
  check_case(c, x);
}

TEST_CASE("cuda on host: the order of threads changes nothing") {
  const AttentionCase c{1, 130, 130, 1, 1, 32, Ssmax::full, kAlibi, Documents::one};
  const AttentionValues x = make_attention(c);
  const Found first = run_kernel(c, x);
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    cuda::on_host::set_seed(seed);
    CHECK(run_kernel(c, x).out.at == first.out.at);
  }
}

TEST_CASE("cuda on host: the prior's table") {
  const std::vector<HeadPrior> heads = {{1, -1, 0}, {-0.5, 0, -1.5}, {-12, 0, 0}, {2.5, -3, -0.48}};
  std::vector<float> shape, scale, loc;
  for (const HeadPrior& head : heads) {
    shape.push_back(static_cast<float>(head.shape));
    scale.push_back(static_cast<float>(head.scale));
    loc.push_back(static_cast<float>(head.loc));
  }
  const Index distances = 300;
  std::vector<float> table(heads.size() * 300, 1.0F);
  cuda::prior_table({shape.data(), scale.data(), loc.data(), table.data(), 4, distances}, nullptr);
  const auto values = [](const std::vector<float>& x) {
    return Values{{static_cast<Index>(x.size())}, std::vector<double>(x.begin(), x.end())};
  };
  const auto truth = run_on_ref([&](Bench& bench) {
    bench->prior_table({bench.in(values(shape)), bench.in(values(scale)), bench.in(values(loc)),
                        bench.out("table", {4, distances}, DType::f32, {})});
  });
  for (Index i = 0; i < 4 * distances; ++i) {
    CHECK(static_cast<double>(table[static_cast<std::size_t>(i)]) == Approx(truth.at("table")[i]).epsilon(1e-6));
  }
}

TEST_CASE("cuda on host: the emulation finds what a device would not forgive") {
  using namespace bam::cuda::on_host;
  const auto run_one = [](const std::function<void()>& body) { run({1, 1, 1}, 64, 256, body); };
  CHECK_THROWS_WITH(run_one([] {
                      if (place().thread.x != 5) wait_for_block(false);
                    }),
                    "a barrier that not all threads reach");
  CHECK_THROWS_WITH(run_one([] {
                      const int lane_id = lane();
                      meet_warp(lane_id == 3 ? 1 : 0, &lane_id, sizeof lane_id);
                    }),
                    "lanes of a warp are at different instructions");
  CHECK_THROWS_WITH(run_one([] { shared_memory()[256] = 0; }), "a write outside shared memory");
  // An asynchronous copy is not there before it was waited for.
  alignas(16) static const std::array<unsigned char, 16> source{1, 2, 3};
  run_one([] {
    unsigned char* const to = shared_memory() + 16 * (place().thread.x % 16);
    if (place().thread.x >= 16) return;
    copy_async(to, source.data(), 16);
    commit_copies();
    if (to[1] == 2) throw std::runtime_error("too early");
    wait_copies(0);
    if (to[1] != 2) throw std::runtime_error("not there");
  });
}
