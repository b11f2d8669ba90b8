// boxes: kernels
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

struct Inputs {
  Values tokens, weight, positions;
};

Inputs make(Index batch, Index length, Index vocabulary, Index dim, bool positions) {
  Inputs in{whole({batch, length}, 1, vocabulary), normal({vocabulary, dim}, 2), {}};
  if (positions) in.positions = normal({length, dim}, 3);
  if (in.tokens.count() > 1) {
    in.tokens[0] = 0;
    in.tokens[in.tokens.count() - 1] = static_cast<double>(vocabulary - 1);
  }
  return in;
}

Shape out_shape(const Inputs& in) {
  return {in.tokens.shape[0], in.tokens.shape[1], in.weight.shape[1]};
}

Call forward_call(const Inputs& in) {
  return [&in](Bench& bench) {
    const Tolerance tolerance = in.positions.count() > 0 ? rounding(DType::f32) : kExact;
    bench->embedding_forward({bench.in(in.tokens, DType::i32), bench.in(in.weight), bench.optional_in(in.positions),
                              bench.out("out", out_shape(in), DType::f32, tolerance)});
  };
}

Call backward_call(const Inputs& in, const Values& dout, const Values& dweight) {
  return [&](Bench& bench) {
    bench->embedding_backward({bench.in(in.tokens, DType::i32), bench.in(dout),
                               bench.inout("dweight", dweight, DType::f32,
                                           sum_of_products(DType::f32, in.tokens.count() / in.weight.shape[0] + 1))});
  };
}

Call sinusoidal_call(Index first, double theta, const Shape& shape) {
  return [=](Bench& bench) {
    bench->sinusoidal_table({first, theta, bench.out("table", shape, DType::f32, rounding(DType::f32))});
  };
}

}  // namespace

TEST_CASE("embedding: every size agrees with ref") {
  for_each_backend([](const std::string& device, DType) {
    for (const Index dim : {1, 7, 16, 33, 100}) {
      for (const Index length : {0, 1, 5, 128, 129}) {
        for (const bool positions : {false, true}) {
          const Inputs in = make(2, length, 50, dim, positions);
          INFO("length " << length << " dim " << dim << " positions " << positions);
          compare(device, forward_call(in));
          compare(device, backward_call(in, normal(out_shape(in), 4), normal(in.weight.shape, 5)));
        }
      }
    }
  });
}

TEST_CASE("embedding: many of few tokens are summed in order") {
  for_each_backend([](const std::string& device, DType) {
    for (const Index vocabulary : {1, 2}) {
      const Inputs in = make(3, 333, vocabulary, 24, false);
      const Values dout = normal(out_shape(in), 4);
      const Values dweight = normal(in.weight.shape, 5);
      compare(device, backward_call(in, dout, dweight));
      // In the order of (b, t) whatever the thread count: the same bits.
      std::string fault;
      const auto one = run_once(device, 1, 0, backward_call(in, dout, dweight), fault);
      const auto two = run_once(device, 2, 0, backward_call(in, dout, dweight), fault);
      CHECK(fault == "");
      CHECK(one[0].bytes == two[0].bytes);
    }
  });
}

TEST_CASE("embedding: sinusoidal positions agree with ref, also far out") {
  for_each_backend([](const std::string& device, DType) {
    for (const Index first : {0, 256, 131071, 511000}) {
      for (const Shape& shape : {Shape{0, 8}, Shape{1, 1}, Shape{3, 7}, Shape{130, 32}}) {
        for (const double theta : {10000.0, 100.0}) compare(device, sinusoidal_call(first, theta, shape));
      }
    }
  });
}

TEST_CASE("embedding: ref agrees with central differences") {
  Inputs in = make(2, 4, 5, 3, true);
  const Values dout = normal(out_shape(in), 4);
  const auto got = run_unrounded(backward_call(in, dout, filled(in.weight.shape, 0)));
  check_gradient("weight", in.weight, got.at("dweight"),
                 [&] { return dot(run_unrounded(forward_call(in)).at("out"), dout); });
}

TEST_CASE("embedding: by hand") {
  const Inputs in{{{1, 2}, {2, 0}}, {{3, 2}, {1, 2, 3, 4, 5, 6}}, {{2, 2}, {10, 20, 30, 40}}};
  CHECK(run_on_ref(forward_call(in)).at("out").at == std::vector<double>{15, 26, 31, 42});
  // theta 10000 and 4 channels: frequencies 1, 1/10, 1/100, 1/1000, one for each channel.
  const auto table = run_on_ref(sinusoidal_call(3, 10000, {1, 4})).at("table");
  CHECK(table[0] == Approx(std::sin(3.0)));
  CHECK(table[1] == Approx(std::cos(0.3)));
  CHECK(table[2] == Approx(std::sin(0.03)));
  CHECK(table[3] == Approx(std::cos(0.003)));
}
