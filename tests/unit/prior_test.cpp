// boxes: kernels
#include "support/attention_case.h"
#include "support/gradients.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

struct Parameters {
  Values shape, scale, loc;
  Index heads() const { return shape.count(); }
};

Parameters parameters(const std::vector<HeadPrior>& heads) {
  const Shape shape{static_cast<Index>(heads.size())};
  Parameters p{filled(shape, 0), filled(shape, 0), filled(shape, 0)};
  for (Index h = 0; h < p.heads(); ++h) {
    const HeadPrior& head = heads[static_cast<std::size_t>(h)];
    p.shape[h] = head.shape;
    p.scale[h] = head.scale;
    p.loc[h] = head.loc;
  }
  return p;
}

Call table_call(const Parameters& p, Index distances) {
  return [&p, distances](Bench& bench) {
    bench->prior_table({bench.in(p.shape), bench.in(p.scale), bench.in(p.loc),
                        bench.out("table", {p.heads(), distances}, DType::f32, rounding(DType::f32))});
  };
}

struct Gradients {
  Values dshape, dscale, dloc;  // without values: frozen
};

Call backward_call(const Parameters& p, const Values& dtable, const Gradients& before) {
  return [&](Bench& bench) {
    // The sum is taken in double and rounded; what is added to it is of size 1 and may cancel it.
    const Tolerance tolerance = few_roundings(DType::f32, 2) + Tolerance{.absolute = 4 * roundoff(DType::f32)};
    const auto sum = [&](const char* name, const Values& x) {
      return x.count() == 0 ? TensorView{} : bench.inout(name, x, DType::f32, tolerance);
    };
    bench->prior_backward({bench.in(p.shape), bench.in(p.scale), bench.in(p.loc), bench.in(dtable),
                           sum("dshape", before.dshape), sum("dscale", before.dscale), sum("dloc", before.dloc)});
  };
}

const PriorKind* const kKinds[] = {&kAlibi, &kSteep, &kShifted, &kOverflowing};
constexpr Index kLengths[] = {0, 1, 2, 7, 8, 9, 127, 128, 129, 1000};

}  // namespace

TEST_CASE("prior: table agrees with ref to one rounding") {
  for_each_backend([](const std::string& device, DType) {
    for (const PriorKind* kind : kKinds) {
      INFO(kind->name);
      for (const Index length : kLengths) compare(device, table_call(parameters(kind->heads), length));
    }
    compare(device, table_call(parameters({{0.1, -1, 0.2}}), 300000));
  });
}

TEST_CASE("prior: gradients agree with ref, whatever is frozen") {
  for_each_backend([](const std::string& device, DType) {
    for (const PriorKind* kind : kKinds) {
      INFO(kind->name);
      const Parameters p = parameters(kind->heads);
      for (const Index length : kLengths) {
        const Values dtable = normal({p.heads(), length}, 1);
        compare(device,
                backward_call(p, dtable, {normal({p.heads()}, 2), normal({p.heads()}, 3), normal({p.heads()}, 4)}));
      }
      for (int trained = 0; trained < 8; ++trained) {
        const auto some = [&](int bit) { return (trained & bit) != 0 ? normal({p.heads()}, 5) : Values{}; };
        compare(device, backward_call(p, normal({p.heads(), 50}, 1), {some(1), some(2), some(4)}));
      }
    }
  });
}

TEST_CASE("prior: a gradient that is not a number stays in its head") {
  for_each_backend([](const std::string& device, DType) {
    const Parameters p = parameters(kAlibi.heads);
    Values dtable = normal({3, 40}, 1);
    dtable[40 + 17] = std::nan("");
    compare(device, backward_call(p, dtable, {normal({3}, 2), normal({3}, 3), normal({3}, 4)}));
  });
}

TEST_CASE("prior: ref agrees with central differences") {
  // loc = 0 has its mode on a key, where the table has a kink and sign is 0 by definition.
  Parameters p = parameters({{1.3, -1, 0}, {-0.5, 0.3, 0.2}, {0.4, 0, -0.9}, {0.01, 0.5, -1.1}, {2, -3, 0.6}});
  const Values dtable = normal({5, 12}, 1);
  const auto loss = [&] { return dot(run_unrounded(table_call(p, 12)).at("table"), dtable); };
  const Values zero = filled({5}, 0);
  const auto got = run_unrounded(backward_call(p, dtable, {zero, zero, zero}));
  check_gradient("shape", p.shape, got.at("dshape"), loss);
  check_gradient("scale", p.scale, got.at("dscale"), loss);
  check_gradient("loc", p.loc, got.at("dloc"), loss);
}

TEST_CASE("prior: where b is clamped its gradients are 0") {
  const Parameters p = parameters({{-8, 0, 0}});
  CHECK(run_on_ref(table_call(p, 2)).at("table").at == std::vector<double>{-1e30, -std::pow(1 + 1e-5, -8.0)});
  const Values zero = filled({1}, 0);
  const auto got = run_on_ref(backward_call(p, {{1, 2}, {1, 0}}, {zero, zero, zero}));
  for (const char* name : {"dshape", "dscale", "dloc"}) CHECK(got.at(name)[0] == 0);
}

TEST_CASE("prior: ref agrees with the paper's parameters") {
  // beta 1/2, alpha 2, mu -3: a key 7 tokens back is 4 from the mode, (4 / 2)^(1/2) = sqrt 2.
  const Parameters p = parameters({{0.5, -0.5 * std::log(2.0), std::asinh(-1.5)}, {1, std::log(0.25), 0}});
  const auto table = run_unrounded(table_call(p, 8)).at("table");
  CHECK(table[7] == Approx(-std::sqrt(2.0)).epsilon(1e-5));
  CHECK(table[5] == Approx(-1.0).epsilon(1e-5));
  CHECK(table[3] == Approx(-std::sqrt(0.5e-5)));       // the floor, where the distance is 0
  CHECK(table[1] == Approx(table[5]).epsilon(1e-12));  // on the other side of mu, which is rounded
  for (Index n = 0; n < 8; ++n) CHECK(table[8 + n] == Approx(-0.25 * static_cast<double>(n)).margin(1e-5));
}

TEST_CASE("prior: ALiBi's slopes") {
  const std::vector<double> slopes = {0.5, 0.0625, 0.70710678};
  const auto call = [&slopes](Index distances) {
    return [&slopes, distances](Bench& bench) {
      bench->alibi_table({slopes, bench.out("table", {3, distances}, DType::f32, rounding(DType::f32))});
    };
  };
  for_each_backend([&](const std::string& device, DType) {
    for (const Index length : kLengths) compare(device, call(length));
    compare(device, call(200000));
  });
  CHECK(run_on_ref(call(3)).at("table").at ==
        std::vector<double>{0, -0.5, -1, 0, -0.0625, -0.125, 0, -0.70710678, -1.41421356});
}
