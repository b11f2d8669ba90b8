// The public functions of Backend: every argument is checked here, once for all backends, before an op begins.
// Whatever is found is a mistake in the calling code; the message names the op, the argument, what it is and what it
// should have been.
#include "kernels/check.h"

#include <array>
#include <cstdint>
#include <limits>

namespace bam {
namespace {

// Sizes by axis are needed before shapes can be compared, and only a tensor of that rank has them.
Shape shape_of(const Check& check, const char* name, const ConstTensorView& x, int rank) {
  check.rank(name, x, rank);
  return x.shape;
}

}  // namespace

std::string wrong_id_text(std::string_view op, const char* name, Index id, Index place, const IdRange& range) {
  const bool under = id < range.low_at(place);
  return std::string(op) + ": " + name + " has " + std::to_string(id) + " at " + std::to_string(place) + ", expected " +
         (under ? "at least " + std::to_string(range.low_at(place)) : "below " + std::to_string(range.high_at(place)));
}

void Backend::check_ids(std::string_view op, const char* name, ConstTensorView ids, const IdRange& range) {
  std::array<std::int32_t, 1024> block{};
  const ConstTensorView flat = ids.as({ids.count()});
  for (Index first = 0; first < flat.count(); first += Index{block.size()}) {
    const Index count = std::min(flat.count() - first, Index{block.size()});
    copy_out({block.data(), DType::i32, {count}}, rows(flat, first, count));
    for (Index i = first; i < first + count; ++i) {
      const Index id = block[static_cast<std::size_t>(i - first)];
      if (id < range.low_at(i) || id >= range.high_at(i)) throw Error(wrong_id_text(op, name, id, i, range));
    }
  }
}

void Backend::matmul(const MatmulArgs& args) {
  Check check(*this, "matmul");
  const Shape a = shape_of(check, "a", args.a, 2);
  const Shape b = shape_of(check, "b", args.b, 2);
  const Index m = a[args.transpose_a ? 1 : 0];
  const Index k = a[args.transpose_a ? 0 : 1];
  const Index n = b[args.transpose_b ? 0 : 1];
  check.in_real_or_half("a", args.a, a);
  check.in("b", args.b, args.transpose_b ? Shape{n, k} : Shape{k, n}, args.a.dtype);
  const bool half_result = args.c.dtype == DType::bf16 && args.a.dtype == DType::bf16;
  check.out("c", args.c, {m, n}, half_result ? DType::bf16 : real());
  check.require(!(half_result && args.accumulate), "c is bf16, which accumulates nothing, expected the real type");
  check.aliases();
  do_matmul(args);
}

void Backend::embedding_forward(const EmbeddingForwardArgs& args) {
  Check check(*this, "embedding_forward");
  const Shape tokens = shape_of(check, "tokens", args.tokens, 2);
  const Shape weight = shape_of(check, "weight", args.weight, 2);
  check.in("tokens", args.tokens, tokens, DType::i32);
  check.in("weight", args.weight, weight);
  check.optional_in("positions", args.positions, {tokens[1], weight[1]});
  check.out("out", args.out, {tokens[0], tokens[1], weight[1]});
  check.aliases();
  check.ids("tokens", args.tokens, {.low = 0, .high = weight[0]});
  do_embedding_forward(args);
}

void Backend::embedding_backward(const EmbeddingBackwardArgs& args) {
  Check check(*this, "embedding_backward");
  const Shape tokens = shape_of(check, "tokens", args.tokens, 2);
  const Shape dweight = shape_of(check, "dweight", args.dweight, 2);
  check.in("tokens", args.tokens, tokens, DType::i32);
  check.in("dout", args.dout, {tokens[0], tokens[1], dweight[1]});
  check.out("dweight", args.dweight, dweight);
  check.aliases();
  check.ids("tokens", args.tokens, {.low = 0, .high = dweight[0]});
  do_embedding_backward(args);
}

void Backend::sinusoidal_table(const SinusoidalTableArgs& args) {
  Check check(*this, "sinusoidal_table");
  check.out("table", args.table, shape_of(check, "table", args.table, 2));
  check.require(args.theta > 0, "theta is not above 0");
  do_sinusoidal_table(args);
}

void Backend::rmsnorm_forward(const RmsnormForwardArgs& args) {
  Check check(*this, "rmsnorm_forward");
  const Shape x = shape_of(check, "x", args.x, 2);
  check.in("x", args.x, x);
  check.in("weight", args.weight, {x[1]});
  check.out_real_or_half("y", args.y, x);
  check.out("rstd", args.rstd, {x[0]});
  check.aliases();
  do_rmsnorm_forward(args);
}

void Backend::rmsnorm_backward(const RmsnormBackwardArgs& args) {
  Check check(*this, "rmsnorm_backward");
  const Shape x = shape_of(check, "x", args.x, 2);
  check.in("x", args.x, x);
  check.in("weight", args.weight, {x[1]});
  check.in("rstd", args.rstd, {x[0]});
  check.in_real_or_half("dy", args.dy, x);
  check.out("dx", args.dx, x);
  check.out("dweight", args.dweight, {x[1]});
  check.aliases();
  do_rmsnorm_backward(args);
}

void Backend::rotary_table(const RotaryTableArgs& args) {
  Check check(*this, "rotary_table");
  const Shape table = shape_of(check, "table", args.table, 3);
  check.out("table", args.table, {table[0], static_cast<Index>(args.inverse_frequency.size()), 2});
  do_rotary_table(args);
}

void Backend::rotary(const RotaryArgs& args) {
  Check check(*this, "rotary");
  const Shape x = shape_of(check, "x", args.x, 4);
  check.require(x[3] % 2 == 0, "x has an odd last dimension, expected pairs");
  check.out_real_or_half("x", args.x, x);
  check.in("table", args.table, {x[1], x[3] / 2, 2});
  check.aliases();
  do_rotary(args);
}

void Backend::prior_table(const PriorTableArgs& args) {
  Check check(*this, "prior_table");
  const Shape table = shape_of(check, "table", args.table, 2);
  const Shape heads{table[0]};
  check.in("shape", args.shape, heads);
  check.in("scale", args.scale, heads);
  check.in("loc", args.loc, heads);
  check.out("table", args.table, table);
  check.aliases();
  do_prior_table(args);
}

void Backend::prior_backward(const PriorBackwardArgs& args) {
  Check check(*this, "prior_backward");
  const Shape dtable = shape_of(check, "dtable", args.dtable, 2);
  const Shape heads{dtable[0]};
  check.in("shape", args.shape, heads);
  check.in("scale", args.scale, heads);
  check.in("loc", args.loc, heads);
  check.in("dtable", args.dtable, dtable);
  check.optional_out("dshape", args.dshape, heads);
  check.optional_out("dscale", args.dscale, heads);
  check.optional_out("dloc", args.dloc, heads);
  check.aliases();
  do_prior_backward(args);
}

void Backend::alibi_table(const AlibiTableArgs& args) {
  Check check(*this, "alibi_table");
  const Shape table = shape_of(check, "table", args.table, 2);
  check.out("table", args.table, {static_cast<Index>(args.slopes.size()), table[1]});
  do_alibi_table(args);
}

namespace {

struct AttentionShapes {
  Shape q, k, lse;
};

// The arguments that both directions have; the caller adds those it writes.
template <typename Args>
AttentionShapes check_attention(Check& check, const Args& args) {
  const Shape q = shape_of(check, "q", args.q, 4);
  const Shape k = shape_of(check, "k", args.k, 4);
  check.in_real_or_half("q", args.q, q);
  check.in("k", args.k, {q[0], k[1], k[2], q[3]}, args.q.dtype);
  check.in("v", args.v, k, args.q.dtype);
  check.require(k[1] >= q[1], "k has fewer positions than q, expected the queries to be the last of them");
  check.require(q[3] > 0 && k[2] > 0 && q[2] % k[2] == 0, "heads of q are not a multiple of those of k");
  if (!args.prior.empty()) {
    check.in("prior", args.prior, {q[2], shape_of(check, "prior", args.prior, 2)[1]});
  }
  check.in("first_key", args.first_key, {q[0], q[1]}, DType::i32);
  if (args.ssmax == Ssmax::off) {
    check.require(args.ssmax_scale.empty(), "ssmax_scale is given with ssmax off");
  } else {
    check.in("ssmax_scale", args.ssmax_scale, {q[2]});
  }
  return {q, k, {q[0], q[2], q[1]}};
}

// A row may see itself at most, and no key beyond the prior's last entry.
template <typename Args>
void check_first_key(const Check& check, const Args& args) {
  const Index queries = args.q.shape[1];
  const Index before = args.k.shape[1] - queries;
  const Index distances = args.prior.empty() ? args.k.shape[1] : args.prior.shape[1];
  check.ids("first_key", args.first_key,
            {.low = 0, .high = args.k.shape[1], .period = queries, .before = before, .reach = distances});
}

Shape bounds_shape(const Shape& k) {
  return {k[0], (k[1] + kKeyBlock - 1) / kKeyBlock, k[2], 2 * k[3]};
}

}  // namespace

void Backend::key_bounds(const KeyBoundsArgs& args) {
  Check check(*this, "key_bounds");
  const Shape k = shape_of(check, "k", args.k, 4);
  check.in_real_or_half("k", args.k, k);
  check.in("v", args.v, k, args.k.dtype);
  check.out("bounds", args.bounds, bounds_shape(k));
  check.require(args.first >= 0 && args.first <= k[1], "first is not a position of k");
  check.aliases();
  do_key_bounds(args);
}

void Backend::attention_forward(const AttentionForwardArgs& args) {
  Check check(*this, "attention_forward");
  const AttentionShapes shapes = check_attention(check, args);
  check.require(args.skip_eps >= 0 && args.skip_eps < 1, "skip_eps is not within [0, 1)");
  check.optional_in("key_bounds", args.key_bounds, bounds_shape(shapes.k));
  check.optional_out("skipped", args.skipped, {shapes.q[2]});
  check.out("out", args.out, shapes.q);
  check.out("lse", args.lse, shapes.lse);
  check.aliases();
  check_first_key(check, args);
  do_attention_forward(args);
}

void Backend::attention_backward(const AttentionBackwardArgs& args) {
  Check check(*this, "attention_backward");
  const AttentionShapes shapes = check_attention(check, args);
  const DType dtype = args.q.dtype;
  check.require(shapes.q[1] == shapes.k[1], "k has more positions than q, expected as many");
  check.in("out", args.out, shapes.q);
  check.in("lse", args.lse, shapes.lse);
  check.in("dout", args.dout, shapes.q, dtype);
  check.out("dq", args.dq, shapes.q, dtype);
  check.out("dk", args.dk, shapes.k, dtype);
  check.out("dv", args.dv, shapes.k, dtype);
  check.require(!args.prior.empty() || args.dprior.empty(), "dprior is given without a prior");
  check.optional_out("dprior", args.dprior, args.prior.shape);
  check.require(args.ssmax != Ssmax::off || args.dssmax_scale.empty(), "dssmax_scale is given with ssmax off");
  check.optional_out("dssmax_scale", args.dssmax_scale, {shapes.q[2]});
  check.aliases();
  check_first_key(check, args);
  do_attention_backward(args);
}

void Backend::swiglu_forward(const SwigluForwardArgs& args) {
  Check check(*this, "swiglu_forward");
  const Shape gate = shape_of(check, "gate", args.gate, 2);
  check.in_real_or_half("gate", args.gate, gate);
  check.in("up", args.up, gate, args.gate.dtype);
  check.out("out", args.out, gate, args.gate.dtype);
  check.aliases();
  do_swiglu_forward(args);
}

void Backend::swiglu_backward(const SwigluBackwardArgs& args) {
  Check check(*this, "swiglu_backward");
  const Shape gate = shape_of(check, "gate", args.gate, 2);
  const DType dtype = args.gate.dtype;
  check.in_real_or_half("gate", args.gate, gate);
  check.in("up", args.up, gate, dtype);
  check.in("dout", args.dout, gate, dtype);
  check.out("dgate", args.dgate, gate, dtype);
  check.out("dup", args.dup, gate, dtype);
  check.out("out", args.out, gate, dtype);
  check.aliases({{"dgate", "gate"}, {"dup", "up"}, {"out", "dout"}});
  do_swiglu_backward(args);
}

void Backend::cross_entropy(const CrossEntropyArgs& args) {
  Check check(*this, "cross_entropy");
  const Shape logits = shape_of(check, "logits", args.logits, 2);
  const Shape by_row{logits[0]};
  check.in("logits", args.logits, logits);
  check.in("targets", args.targets, by_row, DType::i32);
  check.out("nll", args.nll, by_row);
  if (!args.hit.empty()) check.out("hit", args.hit, by_row, DType::i32);
  if (!args.dlogits.empty()) check.out_real_or_half("dlogits", args.dlogits, logits);
  check.optional_in("grad_scale", args.grad_scale, {1});
  check.aliases({{"dlogits", "logits"}});
  check.ids("targets", args.targets, {.low = std::numeric_limits<Index>::min(), .high = logits[1]});
  do_cross_entropy(args);
}

void Backend::optimizer_step(const OptimizerStepArgs& args) {
  Check check(*this, "optimizer_step");
  const Shape& shape = args.param.shape;
  check.out("param", args.param, shape);
  check.in("grad", args.grad, shape);
  check.out("m", args.m, shape);
  check.out("v", args.v, shape);
  check.in("sizes", args.sizes, {4});
  if (!args.totals.empty()) check.in("totals", args.totals, args.totals.shape, DType::f64);
  check.aliases();
  do_optimizer_step(args);
}

void Backend::cast(const CastArgs& args) {
  Check check(*this, "cast");
  check.in_real_or_half("from", args.from, args.from.shape);
  check.out_real_or_half("to", args.to.as(args.from.shape), args.from.shape);
  check.require(args.to.count() == args.from.count(), "to and from differ in size");
  check.aliases();
  do_cast(args);
}

void Backend::add(const AddArgs& args) {
  Check check(*this, "add");
  check.out("x", args.x, args.x.shape);
  check.in_real_or_half("y", args.y, args.y.shape);
  check.require(args.x.count() == args.y.count(), "x and y differ in size");
  check.aliases();
  do_add(args);
}

void Backend::sum(const SumArgs& args) {
  Check check(*this, "sum");
  check.in("x", args.x, args.x.shape);
  check.out("total", args.total, {1}, DType::f64);
  check.aliases();
  do_sum(args);
}

}  // namespace bam
