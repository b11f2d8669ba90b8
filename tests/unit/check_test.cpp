// boxes: kernels
// What the public functions of Backend refuse, and in what words.
#include "support/files.h"
#include "support/op_bench.h"

using namespace bam;
using namespace bam::test;

namespace {

// Tensors of one backend that live as long as the test.
class Tensors {
 public:
  explicit Tensors(Backend& backend) : backend_(backend) {}

  TensorView of(const Shape& shape) { return of(shape, backend_.real()); }
  TensorView of(const Shape& shape, DType dtype) {
    tensors_.push_back(std::make_unique<Tensor>(backend_, dtype, shape));
    backend_.fill_zero(*tensors_.back());
    return tensors_.back()->view();
  }
  TensorView ids(const Shape& shape, const std::vector<std::int32_t>& values) {
    const TensorView x = of(shape, DType::i32);
    backend_.copy_in(x, {values.data(), DType::i32, shape});
    return x;
  }

 private:
  Backend& backend_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

template <typename Body>
void for_every_backend(Body&& body) {
  for (const BackendInfo& info : list_backends()) {
    if (!info.available || !is_under_test(info.name)) continue;
    INFO(info.name);
    Backend& backend = shared_backend(info.name, 1);
    Tensors tensors(backend);
    body(backend, tensors, std::string(name_of(backend.real())));
  }
}

// `change` makes one argument wrong; the error must be one line that begins with the op and holds `part`.
template <typename Args, typename Change>
void refuses(Backend& backend, void (Backend::*op)(const Args&), const Args& right, Change&& change,
             const std::string& part) {
  Args wrong = right;
  change(wrong);
  const std::string text = error_of([&] {
    (backend.*op)(wrong);
    backend.synchronize();  // a device tells of ids when it is waited for
  });
  INFO(text);
  CHECK(is_one_line(text));
  CHECK(contains(text, part));
}

AttentionForwardArgs attention_args(Tensors& t, const std::vector<std::int32_t>& first_key = {0, 1, 4}) {
  const auto keys = [&] { return t.of({1, 5, 2, 8}); };
  return {.q = t.of({1, 3, 4, 8}),
          .k = keys(),
          .v = keys(),
          .prior = t.of({4, 5}),
          .first_key = t.ids({1, 3}, first_key),
          .ssmax_scale = t.of({4}),
          .ssmax = Ssmax::full,
          .out = t.of({1, 3, 4, 8}),
          .lse = t.of({1, 4, 3})};
}

}  // namespace

TEST_CASE("check: the message names op, argument, what it is and what it should be") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string& real) {
    const MatmulArgs args{.a = t.of({2, 3}), .b = t.of({4, 5}), .c = t.of({2, 5})};
    CHECK(error_of([&] { backend.matmul(args); }) == "matmul: b is " + real + "[4,5], expected " + real + "[3,5]");
  });
}

TEST_CASE("check: matmul") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string& real) {
    const MatmulArgs right{.a = t.of({2, 3}), .b = t.of({3, 5}), .c = t.of({2, 5})};
    backend.matmul(right);
    const auto wrong = [&](auto&& change, const std::string& part) {
      refuses(backend, &Backend::matmul, right, change, "matmul: " + part);
    };
    wrong([&](MatmulArgs& x) { x.a = t.of({2, 3, 1}); }, "a is " + real + "[2,3,1], expected a tensor of rank 2");
    wrong([&](MatmulArgs& x) { x.transpose_a = true; }, "b is");
    wrong([&](MatmulArgs& x) { x.transpose_b = true; }, "b is");
    wrong([&](MatmulArgs& x) { x.c = t.of({5, 2}); }, "c is");
    wrong([&](MatmulArgs& x) { x.c = t.of({2, 5}, DType::i32); }, "c is i32[2,5], expected " + real + "[2,5]");
    wrong([&](MatmulArgs& x) { x.b = t.of({3, 5}, DType::bf16); }, "b is bf16[3,5], expected " + real + "[3,5]");
    wrong([&](MatmulArgs& x) { x.c = t.of({2, 5}, DType::bf16); }, "c is bf16[2,5], expected " + real);
    wrong([&](MatmulArgs& x) { x.c.data = nullptr; }, "c is missing");
    wrong(
        [&](MatmulArgs& x) {
          x.c = TensorView{right.c.data, right.c.dtype, {2, 5}}, x.a = right.c.as({5, 2}), x.transpose_a = true,
          x.b = t.of({5, 5});
        },
        "c overlaps a");
    if (backend.real() == DType::f64) return;
    const MatmulArgs half{t.of({2, 3}, DType::bf16), t.of({3, 5}, DType::bf16), t.of({2, 5}, DType::bf16)};
    backend.matmul(half);
    refuses(
        backend, &Backend::matmul, half, [](MatmulArgs& x) { x.accumulate = true; }, "accumulates nothing");
    refuses(
        backend, &Backend::matmul, half,
        [&](MatmulArgs& x) {
          x.a = t.of({2, 3}, DType::f64);
        },
        "a is f64[2,3]");
  });
}

TEST_CASE("check: an id outside the vocabulary is refused") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string&) {
    std::vector<std::int32_t> tokens(3000, 6);
    const auto text_with = [&](std::int32_t id, auto&& op) {
      tokens[2999] = id;
      return error_of([&] {
        op(t.ids({2, 1500}, tokens));
        backend.synchronize();
      });
    };
    const TensorView weight = t.of({7, 2});
    const TensorView out = t.of({2, 1500, 2});
    const auto forward = [&](TensorView ids) { backend.embedding_forward({ids, weight, {}, out}); };
    const auto backward = [&](TensorView ids) { backend.embedding_backward({ids, out, weight}); };
    CHECK(text_with(6, forward) == "no error");
    CHECK(text_with(7, forward) == "embedding_forward: tokens has 7 at 2999, expected below 7");
    CHECK(text_with(-1, forward) == "embedding_forward: tokens has -1 at 2999, expected at least 0");
    CHECK(text_with(7, backward) == "embedding_backward: tokens has 7 at 2999, expected below 7");
    CHECK(text_with(-2147483647, backward) ==
          "embedding_backward: tokens has -2147483647 at 2999, expected at least 0");
    const auto loss = [&](TensorView ids) { backend.cross_entropy({t.of({3000, 7}), ids.as({3000}), t.of({3000})}); };
    CHECK(text_with(-5, loss) == "no error");
    CHECK(text_with(7, loss) == "cross_entropy: targets has 7 at 2999, expected below 7");
  });
}

TEST_CASE("check: attention") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string& real) {
    using Args = AttentionForwardArgs;
    const Args right = attention_args(t);
    backend.attention_forward(right);
    const auto wrong = [&](auto&& change, const std::string& part) {
      refuses(backend, &Backend::attention_forward, right, change, "attention_forward: " + part);
    };
    wrong([&](Args& x) { x.k = x.v = t.of({1, 5, 3, 8}); }, "heads of q are not a multiple of those of k");
    wrong([&](Args& x) { x.k = x.v = t.of({1, 2, 2, 8}); }, "k has fewer positions than q");
    wrong([&](Args& x) { x.k = t.of({1, 5, 2, 4}); }, "k is " + real + "[1,5,2,4], expected " + real + "[1,5,2,8]");
    wrong([&](Args& x) { x.v = t.of({1, 6, 2, 8}); }, "v is");
    wrong([&](Args& x) { x.q = t.of({1, 3, 4, 8}, DType::i32); }, "q is i32");
    wrong([&](Args& x) { x.prior = t.of({2, 5}); }, "prior is");
    wrong([&](Args& x) { x.prior = t.of({4, 2}); }, "first_key has 0 at 0, expected at least 1");
    wrong([&](Args& x) { x.ssmax = Ssmax::off; }, "ssmax_scale is given");
    wrong([&](Args& x) { x.ssmax_scale = {}; }, "ssmax_scale is missing");
    wrong([&](Args& x) { x.lse = t.of({1, 3, 4}); }, "lse is");
    wrong([&](Args& x) { x.out = t.of({1, 3, 4, 8}, DType::i32); }, "out is");
    wrong([&](Args& x) { x.out = {const_cast<void*>(x.q.data), x.q.dtype, x.q.shape}; }, "out overlaps q");
    wrong([&](Args& x) { x.first_key = t.ids({1, 3}, {0, 4, 0}); }, "first_key has 4 at 1, expected below 4");
    wrong([&](Args& x) { x.first_key = t.ids({1, 3}, {0, -1, 0}); }, "first_key has -1 at 1, expected at least 0");
    wrong([&](Args& x) { x.first_key = t.ids({3, 1}, {0, 0, 0}); }, "first_key is i32[3,1], expected i32[1,3]");
  });
}

TEST_CASE("check: attention_backward") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string&) {
    using Args = AttentionBackwardArgs;
    const auto x = [&] { return t.of({1, 3, 2, 8}); };
    const Args right{.q = x(),
                     .k = x(),
                     .v = x(),
                     .prior = t.of({2, 3}),
                     .first_key = t.ids({1, 3}, {0, 0, 0}),
                     .ssmax_scale = t.of({2}),
                     .ssmax = Ssmax::full,
                     .out = x(),
                     .lse = t.of({1, 2, 3}),
                     .dout = x(),
                     .dq = x(),
                     .dk = x(),
                     .dv = x(),
                     .dprior = t.of({2, 3}),
                     .dssmax_scale = t.of({2})};
    backend.attention_backward(right);
    const auto wrong = [&](auto&& change, const std::string& part) {
      refuses(backend, &Backend::attention_backward, right, change, "attention_backward: " + part);
    };
    wrong([&](Args& a) { a.k = a.v = a.dk = a.dv = t.of({1, 4, 2, 8}); }, "k has more positions than q");
    wrong([&](Args& a) { a.dout = t.of({1, 3, 1, 8}); }, "dout is");
    wrong([&](Args& a) { a.dq = t.of({1, 3, 2, 8}, DType::i32); }, "dq is");
    wrong([&](Args& a) { a.dk = a.dv; }, "dk overlaps dv");
    wrong([&](Args& a) { a.dprior = t.of({2, 4}); }, "dprior is");
    wrong([&](Args& a) { a.prior = {}; }, "dprior is given without a prior");
    wrong([&](Args& a) { a.ssmax = Ssmax::off, a.ssmax_scale = {}; }, "dssmax_scale is given with ssmax off");
    wrong([&](Args& a) { a.first_key = t.ids({1, 3}, {0, 2, 0}); }, "first_key has 2 at 1, expected below 2");
  });
}

TEST_CASE("check: norm, mlp, rotary and prior") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string&) {
    const RmsnormForwardArgs norm{t.of({2, 4}), t.of({4}), 1e-5, t.of({2, 4}), t.of({2})};
    backend.rmsnorm_forward(norm);
    refuses(
        backend, &Backend::rmsnorm_forward, norm, [&](auto& x) { x.weight = t.of({2}); }, "weight is");
    refuses(
        backend, &Backend::rmsnorm_forward, norm, [&](auto& x) { x.rstd = t.of({4}); }, "rstd is");
    refuses(
        backend, &Backend::rmsnorm_forward, norm, [&](auto& x) { x.x = x.y; }, "y overlaps x");
    const RmsnormBackwardArgs back{t.of({2, 4}), t.of({4}), t.of({2}), t.of({2, 4}), t.of({2, 4}), t.of({4})};
    backend.rmsnorm_backward(back);
    refuses(
        backend, &Backend::rmsnorm_backward, back,
        [&](auto& x) {
          x.dx = t.of({4, 2});
        },
        "dx is");
    refuses(
        backend, &Backend::rmsnorm_backward, back, [&](auto& x) { x.dweight = t.of({2}); }, "dweight is");

    const SwigluForwardArgs mlp{t.of({2, 4}), t.of({2, 4}), t.of({2, 4})};
    backend.swiglu_forward(mlp);
    refuses(
        backend, &Backend::swiglu_forward, mlp,
        [&](auto& x) {
          x.up = t.of({4, 2});
        },
        "up is");
    const SwigluBackwardArgs swap{mlp.gate, mlp.up, t.of({2, 4}), t.of({2, 4}), t.of({2, 4}), t.of({2, 4})};
    refuses(
        backend, &Backend::swiglu_backward, swap, [&](auto& x) { x.dgate = mlp.out, x.up = mlp.out; },
        "dgate overlaps up");

    const std::vector<double> inverse(4, 1.0);
    const RotaryArgs rotary{t.of({1, 3, 2, 8}), t.of({3, 4, 2})};
    backend.rotary(rotary);
    refuses(
        backend, &Backend::rotary, rotary,
        [&](auto& x) {
          x.table = t.of({3, 8, 2});
        },
        "table is");
    refuses(
        backend, &Backend::rotary, rotary,
        [&](auto& x) {
          x.x = t.of({1, 3, 2, 7});
        },
        "odd last dimension");
    refuses(
        backend, &Backend::rotary_table, RotaryTableArgs{inverse, 0, 1, t.of({3, 4, 2})},
        [&](auto& x) {
          x.table = t.of({3, 5, 2});
        },
        "table is");

    const PriorTableArgs prior{t.of({2}), t.of({2}), t.of({2}), t.of({2, 6})};
    backend.prior_table(prior);
    refuses(
        backend, &Backend::prior_table, prior, [&](auto& x) { x.loc = t.of({3}); }, "loc is");
    const PriorBackwardArgs prior_back{prior.shape, prior.scale, prior.loc, prior.table, t.of({2}), {}, t.of({2})};
    backend.prior_backward(prior_back);
    refuses(
        backend, &Backend::prior_backward, prior_back, [&](auto& x) { x.dshape = x.dloc; }, "dshape overlaps dloc");
    refuses(
        backend, &Backend::alibi_table, AlibiTableArgs{inverse, t.of({4, 2})},
        [&](auto& x) {
          x.table = t.of({3, 2});
        },
        "table is");
  });
}

TEST_CASE("check: loss, optimizer and the rest") {
  for_every_backend([](Backend& backend, Tensors& t, const std::string&) {
    const CrossEntropyArgs loss{t.of({2, 5}), t.ids({2}, {0, 4}), t.of({2}), t.of({2}, DType::i32)};
    backend.cross_entropy(loss);
    refuses(
        backend, &Backend::cross_entropy, loss, [&](auto& x) { x.hit = t.of({2}); }, "hit is");
    refuses(
        backend, &Backend::cross_entropy, loss, [&](auto& x) { x.nll = t.of({5}); }, "nll is");
    refuses(
        backend, &Backend::cross_entropy, loss,
        [&](auto& x) {
          x.dlogits = t.of({5, 2});
        },
        "dlogits is");
    refuses(
        backend, &Backend::cross_entropy, loss, [&](auto& x) { x.grad_scale = t.of({2}); }, "grad_scale is");
    const TensorView logits = t.of({2, 5});
    const TensorView shifted{static_cast<char*>(logits.data) + size_of(logits.dtype), logits.dtype, {1, 5}};
    refuses(
        backend, &Backend::cross_entropy, CrossEntropyArgs{logits.as({2, 5}), t.ids({2}, {0, 0}), t.of({2})},
        [&](auto& x) {
          x.logits = rows(logits, 0, 1), x.targets = t.ids({1}, {0}), x.nll = t.of({1}), x.dlogits = shifted;
        },
        "dlogits overlaps logits");

    OptimizerStepArgs step;
    step.param = t.of({3});
    step.grad = t.of({3});
    step.m = t.of({3});
    step.v = t.of({3});
    step.sizes = t.of({4});
    backend.optimizer_step(step);
    refuses(
        backend, &Backend::optimizer_step, step, [&](auto& x) { x.sizes = t.of({3}); }, "sizes is");
    refuses(
        backend, &Backend::optimizer_step, step, [&](auto& x) { x.totals = t.of({1}, DType::i32); }, "totals is");
    refuses(
        backend, &Backend::optimizer_step, step, [&](auto& x) { x.v = x.m; }, "m overlaps v");
    refuses(
        backend, &Backend::optimizer_step, step, [&](auto& x) { x.grad = t.of({4}); }, "grad is");

    refuses(
        backend, &Backend::add, AddArgs{t.of({3}), t.of({3})}, [&](auto& x) { x.y = t.of({4}); }, "differ in size");
    refuses(
        backend, &Backend::add, AddArgs{t.of({3}), t.of({3})}, [](auto& x) { x.y = x.x; }, "x overlaps y");
    refuses(
        backend, &Backend::cast, CastArgs{t.of({3}), t.of({3})}, [&](auto& x) { x.to = t.of({3}, DType::i32); },
        "to is");
    const SumArgs sum{t.of({3}), t.of({1}, DType::f64)};
    refuses(
        backend, &Backend::sum, sum, [&](auto& x) { x.x = t.of({3}, DType::i32); }, "x is i32[3]");
    refuses(
        backend, &Backend::sum, sum, [&](auto& x) { x.total = t.of({2}, DType::f64); }, "total is f64[2]");
  });
}
