#include "model/layers.h"

#include <algorithm>

namespace bam {
namespace {

const LayerParameters& at(const ModelParameters& parameters, Index layer) {
  return parameters.layers[static_cast<std::size_t>(layer)];
}

}  // namespace

Index head_rows(const ModelConfig& config, Index rows) {
  constexpr Index kSliceElements = Index{1} << 24;
  return std::clamp<Index>(kSliceElements / config.vocab, std::min<Index>(32, rows), rows);
}

TensorView flat(const TensorView& heads) {
  const Shape& s = heads.shape;
  return heads.as({s[0] * s[1], s[2] * s[3]});
}

ConstTensorView flat(const ConstTensorView& heads) {
  const Shape& s = heads.shape;
  return {heads.data, heads.dtype, {s[0] * s[1], s[2] * s[3]}};
}

ConstTensorView as_product(const Model& model, ConstTensorView view, TensorView rounded) {
  if (view.dtype == model.compute()) return view;
  model.backend().cast({view, rounded});
  return rounded;
}

void project_qkv(const Model& model, Index layer, const QkvArgs& args) {
  Backend& backend = model.backend();
  const LayerParameters& weights = at(model.product_views(), layer);
  backend.rmsnorm_forward({args.x, at(model.views(), layer).attn_norm, model.config().norm_eps, args.norm, args.rstd});
  backend.matmul({.a = args.norm, .b = weights.wk, .c = flat(args.k), .transpose_b = true});
  backend.matmul({.a = args.norm, .b = weights.wv, .c = flat(args.v), .transpose_b = true});
  if (!args.rotary.empty()) backend.rotary({args.k, args.rotary});
  if (args.q.empty()) return;
  const ConstTensorView queries = rows(ConstTensorView(args.norm), args.first_query, args.q.shape[0] * args.q.shape[1]);
  backend.matmul({.a = queries, .b = weights.wq, .c = flat(args.q), .transpose_b = true});
  if (!args.rotary.empty()) backend.rotary({args.q, rows(args.rotary, args.first_query, args.q.shape[1])});
}

void attend(const Model& model, Index layer, const AttendArgs& args) {
  Backend& backend = model.backend();
  backend.attention_forward({.q = args.q,
                             .k = args.k,
                             .v = args.v,
                             .prior = args.prior,
                             .first_key = args.first_key,
                             .ssmax_scale = at(model.views(), layer).ssmax_scale,
                             .ssmax = model.config().ssmax,
                             .out = args.attended,
                             .lse = args.lse,
                             .skip_eps = args.key_bounds.empty() ? 0 : model.reading().skip_eps,
                             .key_bounds = args.key_bounds,
                             .skipped = args.skipped});
  const ConstTensorView attended = as_product(model, args.attended, args.attended_product);
  backend.matmul({.a = flat(attended),
                  .b = at(model.product_views(), layer).wo,
                  .c = args.x,
                  .transpose_b = true,
                  .accumulate = true});
}

void feed_forward(const Model& model, Index layer, const FeedForwardArgs& args) {
  Backend& backend = model.backend();
  const LayerParameters& weights = at(model.product_views(), layer);
  backend.rmsnorm_forward({args.x, at(model.views(), layer).ffn_norm, model.config().norm_eps, args.norm, args.rstd});
  backend.matmul({.a = args.norm, .b = weights.w_gate, .c = args.gate, .transpose_b = true});
  backend.matmul({.a = args.norm, .b = weights.w_up, .c = args.up, .transpose_b = true});
  backend.swiglu_forward({args.gate, args.up, args.act});
  backend.matmul({.a = args.act, .b = weights.w_down, .c = args.x, .transpose_b = true, .accumulate = true});
}

}  // namespace bam
