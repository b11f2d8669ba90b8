// boxes: kernels
// What the cpu backend's attention promises to the bit, which a comparison with ref cannot see: a query's result is the
// same in a whole sequence and in any chunk of it, and gradients are the same for any number of threads up to 8.
#include <cstring>

#include "kernels/registry.h"
#include "support/attention_case.h"
#include "support/catch.h"

using namespace bam;
using namespace bam::test;

namespace {

Tensor tensor(Backend& backend, const Values& x, DType dtype) {
  Tensor t(backend, dtype, x.shape);
  if (dtype == DType::i32) {
    std::vector<std::int32_t> integers(x.at.begin(), x.at.end());
    backend.copy_in(t, ConstTensorView{integers.data(), DType::i32, x.shape});
  } else {
    backend.copy_in(t, ConstTensorView{x.at.data(), DType::f64, x.shape});
  }
  return t;
}

std::string bytes_of(Backend& backend, const Tensor& x) {
  const TensorView view = x.view();
  std::string bytes(view.bytes(), '\0');
  backend.copy_out(TensorView{bytes.data(), view.dtype, view.shape}, view);
  return bytes;
}

struct Inputs {
  Inputs(Backend& backend, const AttentionCase& c, DType dtype) : ssmax(c.ssmax) {
    const AttentionValues x = make_attention(c);
    q = tensor(backend, x.q, dtype);
    k = tensor(backend, x.k, dtype);
    v = tensor(backend, x.v, dtype);
    prior = tensor(backend, x.prior, DType::f32);
    first_key = tensor(backend, x.first_key, DType::i32);
    ssmax_scale = tensor(backend, x.ssmax_scale, DType::f32);
    out = Tensor(backend, DType::f32, x.q.shape);
    lse = Tensor(backend, DType::f32, {c.batch, c.heads, c.queries});
  }
  Tensor q, k, v, prior, first_key, ssmax_scale, out, lse;
  Ssmax ssmax;
};

// out of the queries [first, first + count) as a call of their own, over the keys up to the last of them; one batch.
std::string chunk(Backend& backend, const Inputs& x, Index first, Index count) {
  const Shape& q = x.q.shape();
  const Shape& k = x.k.shape();
  const auto cut = [&](const Tensor& whole, Index from, Index rows_count, Index heads) {
    const Shape flat{whole.shape()[1], heads, whole.shape()[3]};
    return rows(whole.view().as(flat), from, rows_count).as({1, rows_count, heads, flat[2]});
  };
  Tensor out(backend, DType::f32, {1, count, q[2], q[3]}), lse(backend, DType::f32, {1, q[2], count});
  backend.attention_forward({.q = cut(x.q, first, count, q[2]),
                             .k = cut(x.k, 0, first + count, k[2]),
                             .v = cut(x.v, 0, first + count, k[2]),
                             .prior = x.prior,
                             .first_key = rows(x.first_key.view().as({q[1]}), first, count).as({1, count}),
                             .ssmax_scale = x.ssmax_scale,
                             .ssmax = x.ssmax,
                             .out = out,
                             .lse = lse});
  return bytes_of(backend, out);
}

std::string gradients(int threads, const AttentionCase& c, DType dtype) {
  const auto backend = make_backend("cpu", threads);
  Inputs x(*backend, c, dtype);
  const Tensor dout = tensor(*backend, normal(x.q.shape(), 9), dtype);
  const Tensor dq(*backend, dtype, x.q.shape()), dk(*backend, dtype, x.k.shape()), dv(*backend, dtype, x.k.shape());
  const Tensor dprior(*backend, DType::f32, x.prior.shape()), dscale(*backend, DType::f32, x.ssmax_scale.shape());
  backend->fill_zero(dprior);
  backend->fill_zero(dscale);
  backend->attention_forward({.q = x.q,
                              .k = x.k,
                              .v = x.v,
                              .prior = x.prior,
                              .first_key = x.first_key,
                              .ssmax_scale = x.ssmax_scale,
                              .ssmax = x.ssmax,
                              .out = x.out,
                              .lse = x.lse});
  backend->attention_backward({.q = x.q,
                               .k = x.k,
                               .v = x.v,
                               .prior = x.prior,
                               .first_key = x.first_key,
                               .ssmax_scale = x.ssmax_scale,
                               .ssmax = x.ssmax,
                               .out = x.out,
                               .lse = x.lse,
                               .dout = dout,
                               .dq = dq,
                               .dk = dk,
                               .dv = dv,
                               .dprior = dprior,
                               .dssmax_scale = dscale});
  std::string all;
  for (const Tensor* t : std::initializer_list<const Tensor*>{&x.out, &x.lse, &dq, &dk, &dv, &dprior, &dscale})
    all += bytes_of(*backend, *t);
  return all;
}

}  // namespace

// Up to eight queries are decoded, with sums in another order; unit.attention holds those to the truth.
TEST_CASE("attention_bits: a query in a chunk and in the whole") {
  const auto backend = make_backend("cpu", 2);
  for (const Documents documents : {Documents::one, Documents::many, Documents::window}) {
    const AttentionCase c{1, 300, 300, 4, 2, 24, Ssmax::full, kAlibi, documents};
    INFO(c);
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const Inputs x(*backend, c, dtype);
      const std::string whole = chunk(*backend, x, 0, 300);
      const std::size_t row = 4 * 24 * sizeof(float);
      for (const Index size : {12, 64, 150, 290}) {
        std::string joined;
        for (Index first = 0; first < 300; first += size)
          joined += chunk(*backend, x, first, std::min(size, 300 - first));
        std::size_t differing = 0;
        for (std::size_t i = 0; i < 300; ++i) differing += whole.compare(i * row, row, joined, i * row, row) != 0;
        INFO("chunks of " << size);
        CHECK(differing == 0);
      }
    }
  }
}

TEST_CASE("attention_bits: gradients for any number of threads up to 8") {
  // One key head of 700 queries makes several ranges of queries, whose dk and dv are added at the end; the first steep
  // prior leaves far keys free, so that all ranges have something to add.
  const AttentionCase cases[] = {{1, 700, 700, 2, 1, 16, Ssmax::full, kSteep, Documents::many},
                                 {1, 1100, 1100, 1, 1, 8, Ssmax::content, kSteep, Documents::one},
                                 {5, 90, 90, 4, 4, 20, Ssmax::full, kSteep, Documents::many}};
  for (const AttentionCase& c : cases) {
    INFO(c);
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string one = gradients(1, c, dtype);
      for (const int threads : {2, 3, 8}) CHECK(gradients(threads, c, dtype) == one);
    }
  }
}
