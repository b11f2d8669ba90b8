// boxes: kernels
// The emulation itself, and the priors' table.
#include <array>
#include <stdexcept>

#include "cuda_on_host/emulation.h"
#include "kernels/cuda/ops.h"
#include "support/attention_case.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

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
