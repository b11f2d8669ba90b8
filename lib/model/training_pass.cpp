#include "model/training_pass.h"

#include <algorithm>

#include "base/error.h"

namespace bam {
namespace {

TensorView first_rows(const Tensor& tensor, Index count) {
  return rows(tensor.view(), 0, count);
}

// The front of a tensor under a smaller shape.
TensorView first_of(const Tensor& tensor, const Shape& shape) {
  return {tensor.view().data, tensor.view().dtype, shape};
}

// Does a gradient depend on what the first layer's attention hands down?
bool reaches_bottom(const ParameterSet& gradients) {
  const std::vector<ParameterInfo>& infos = gradients.infos();
  return std::any_of(infos.begin(), infos.end(), [](const ParameterInfo& info) {
    const bool lowest = info.role == ParameterRole::embedding || info.name == "layers/0/wq" ||
                        info.name == "layers/0/wk" || info.name == "layers/0/wv" || info.name == "layers/0/attn_norm";
    return lowest && info.offset != kNotHeld;
  });
}

}  // namespace

double training_pass_bytes(const ModelConfig& config, Products products, Index windows, Index tokens) {
  const auto n = static_cast<double>(windows * tokens);
  const auto real = [](Index x) { return static_cast<double>(x); };
  const double compute = products == Products::bf16 ? 2 : 4;
  const double q = real(config.dim);
  const double kv = q * real(config.kv_heads) / real(config.heads);
  const double rounded = products == Products::bf16 ? compute * q : 0;
  const double per_layer = 4 * (2 * real(config.dim) + 2 * q + 2 * kv + real(config.heads) + 2) +
                           compute * (2 * real(config.dim) + 2 * real(config.ffn)) + rounded;
  const double shared = 4 * (3 * real(config.dim) + 2 * q + 2 * kv + 5) +
                        compute * (3 * real(config.ffn) + 2 * real(config.dim)) + rounded;
  const double head = real(head_rows(config, windows * tokens)) * real(config.vocab) * (4 + compute);
  return n * (real(config.layers) * per_layer + shared) + head;
}

TrainingPass::TrainingPass(Model& model, Index windows, Index tokens)
    : model_(model), windows_(windows), tokens_(tokens), tables_(model, tokens, tokens) {
  const ModelConfig& config = model.config();
  Backend& backend = model.backend();
  const Index n = windows * tokens;
  const auto real = [&](Shape shape) { return Tensor(backend, model.real(), shape); };
  const auto compute = [&](Shape shape) { return Tensor(backend, model.compute(), shape); };
  const Shape q_shape{windows, tokens, config.heads, config.head_dim()};
  const Shape kv_shape{windows, tokens, config.kv_heads, config.head_dim()};
  const auto attention = [&](Shape shape) {
    return Tensor(backend, backend.attention_type(model.compute(), config.head_dim()), shape);
  };
  const bool rounds = model.compute() != model.real();

  for (Index i = 0; i < config.layers; ++i) {
    layers_.push_back({.x_in = real({n, config.dim}),
                       .attn_rstd = real({n}),
                       .attn_in = compute({n, config.dim}),
                       .q = attention(q_shape),
                       .k = attention(kv_shape),
                       .v = attention(kv_shape),
                       .attended = real(q_shape),
                       .lse = real({windows, config.heads, tokens}),
                       .attended_product = rounds ? compute(q_shape) : Tensor(),
                       .x_mid = real({n, config.dim}),
                       .ffn_rstd = real({n}),
                       .ffn_in = compute({n, config.dim}),
                       .gate = compute({n, config.ffn}),
                       .up = compute({n, config.ffn})});
  }
  const Index slice = head_rows(config, n);
  x_ = real({n, config.dim});
  final_rstd_ = real({n});
  final_in_ = compute({n, config.dim});
  ids_ = Tensor(backend, DType::i32, {windows, tokens});
  targets_ = Tensor(backend, DType::i32, {n});
  first_key_ = Tensor(backend, DType::i32, {windows, tokens});
  grad_scale_ = real({1});
  ffn_act_ = compute({n, config.ffn});
  logits_ = real({slice, config.vocab});
  if (rounds) dlogits_ = compute({slice, config.vocab});
  nll_ = real({n});
  nll_sum_ = Tensor(backend, DType::f64, {1});
  dx_ = real({n, config.dim});
  if (rounds) dx_product_ = compute({n, config.dim});
  if (rounds) dhead_product_ = compute(q_shape);
  dnorm_ = real({n, config.dim});
  dgate_ = compute({n, config.ffn});
  dup_ = compute({n, config.ffn});
  dattended_ = attention(q_shape);
  dq_ = attention(q_shape);
  dk_ = attention(kv_shape);
  dv_ = attention(kv_shape);
  dnorm_weight_ = real({config.dim});
  backend.fill_zero(dnorm_weight_);
  if (!tables_.prior(0).empty()) dprior_ = real({config.heads, tokens});
}

void TrainingPass::load(const Batch& batch, double grad_scale) {
  if (batch.tokens != tokens_ || batch.windows > windows_ || batch.windows < 1) {
    throw Error("training pass: a batch of " + std::to_string(batch.windows) + " windows of " +
                std::to_string(batch.tokens) + " tokens, made for at most " + std::to_string(windows_) + " of " +
                std::to_string(tokens_));
  }
  batch_windows_ = batch.windows;
  const Index n = batch.windows * tokens_;
  const auto send = [&](const Tensor& to, const std::vector<std::int32_t>& from) {
    model_.backend().copy_in({to.view().data, DType::i32, {n}}, {from.data(), DType::i32, {n}});
  };
  send(ids_, batch.ids);
  send(targets_, batch.targets);
  send(first_key_, batch.first_key);
  model_.backend().copy_in(grad_scale_, {&grad_scale, DType::f64, {1}});
}

void TrainingPass::forward_layers() {
  Backend& backend = model_.backend();
  const Index b = batch_windows_;
  const Index n = b * tokens_;
  tables_.move_to(0, tokens_);
  const TensorView embedded = first_rows(layers_[0].x_in, n);
  backend.embedding_forward({first_rows(ids_, b), model_.views().token_embedding, tables_.sinusoidal(),
                             embedded.as({b, tokens_, model_.config().dim})});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerActivations& a = layers_[i];
    const auto layer = static_cast<Index>(i);
    const TensorView x_in = first_rows(a.x_in, n);
    const TensorView x_mid = first_rows(a.x_mid, n);
    const TensorView x_out = first_rows(i + 1 < layers_.size() ? layers_[i + 1].x_in : x_, n);
    project_qkv(model_, layer,
                {x_in, first_rows(a.attn_in, n), first_rows(a.attn_rstd, n), first_rows(a.q, b), first_rows(a.k, b),
                 first_rows(a.v, b), tables_.rotary()});
    backend.cast({x_in, x_mid});
    const TensorView rounded = a.attended_product.view().empty() ? TensorView{} : first_rows(a.attended_product, b);
    attend(model_, layer,
           {first_rows(a.q, b), first_rows(a.k, b), first_rows(a.v, b), tables_.prior(layer), first_rows(first_key_, b),
            first_rows(a.attended, b), rounded, first_rows(a.lse, b), x_mid});
    backend.cast({x_mid, x_out});
    feed_forward(model_, layer,
                 {first_rows(a.ffn_in, n), first_rows(a.ffn_rstd, n), first_rows(a.gate, n), first_rows(a.up, n),
                  first_rows(ffn_act_, n), x_out});
  }
  backend.rmsnorm_forward({first_rows(x_, n), model_.views().final_norm, model_.config().norm_eps,
                           first_rows(final_in_, n), first_rows(final_rstd_, n)});
}

void TrainingPass::head(const ModelParameters* gradients, TensorView logits, TensorView nll_sum) {
  Backend& backend = model_.backend();
  const Index n = batch_windows_ * tokens_;
  const TensorView head_weight = model_.product_views().lm_head;
  for (Index first = 0; first < n; first += logits_.shape()[0]) {
    const Index count = std::min(logits_.shape()[0], n - first);
    const TensorView slice = first_rows(logits_, count);
    const TensorView hidden = rows(final_in_.view(), first, count);
    backend.matmul({.a = hidden, .b = head_weight, .c = slice, .transpose_b = true});
    if (!logits.empty()) backend.cast({slice, rows(logits, first, count)});
    CrossEntropyArgs loss{
        .logits = slice, .targets = rows(targets_.view(), first, count), .nll = rows(nll_.view(), first, count)};
    if (gradients != nullptr) {
      loss.dlogits = dlogits_.view().empty() ? slice : first_rows(dlogits_, count);
      loss.grad_scale = grad_scale_;
    }
    backend.cross_entropy(loss);
    if (gradients == nullptr) continue;
    add_weight_gradient(loss.dlogits, hidden, gradients->lm_head);
    backend.matmul({.a = loss.dlogits, .b = head_weight, .c = rows(dnorm_.view(), first, count)});
  }
  backend.sum({first_rows(nll_, n), nll_sum});
}

LossSum TrainingPass::read_loss(const Batch& batch) {
  LossSum sum;
  model_.backend().copy_out({&sum.nll_nats, DType::f64, {1}}, nll_sum_);
  sum.targets = count_targets(batch);
  return sum;
}

LossSum TrainingPass::forward(const Batch& batch, TensorView logits) {
  load(batch, 0);
  model_.backend().fill_zero(nll_sum_);
  forward_layers();
  head(nullptr, logits, nll_sum_);
  return read_loss(batch);
}

LossSum TrainingPass::forward_backward(const Batch& batch, double grad_scale, const ParameterSet& gradients,
                                       const LayerDone& done) {
  load(batch, grad_scale);
  model_.backend().fill_zero(nll_sum_);
  add_gradients(gradients, nll_sum_, done);
  return read_loss(batch);
}

void TrainingPass::add_gradients(const ParameterSet& gradients, TensorView nll_sum, const LayerDone& done) {
  Backend& backend = model_.backend();
  const ModelParameters gradient_views = views_of(gradients, model_.config());
  const Index n = batch_windows_ * tokens_;
  forward_layers();
  head(&gradient_views, {}, nll_sum);
  const TensorView dx = first_rows(dx_, n);
  backend.fill_zero(dx);
  backend.rmsnorm_backward({first_rows(x_, n), model_.views().final_norm, first_rows(final_rstd_, n),
                            first_rows(dnorm_, n), dx, norm_gradient(gradient_views.final_norm)});
  const auto tell = [&](Index layer) {
    if (done) done(layer);
  };
  tell(model_.config().layers);
  const bool reaches_embedding = reaches_bottom(gradients);
  for (Index layer = model_.config().layers - 1; layer >= 0; --layer) {
    backward_feed_forward(layer, gradient_views);
    tell(layer + 1);
    backward_attention(layer, gradient_views, layer == 0 && !reaches_embedding);
    tell(layer);
  }
  if (reaches_embedding) {
    backend.embedding_backward({first_rows(ids_, batch_windows_), dx.as({batch_windows_, tokens_, model_.config().dim}),
                                gradient_views.token_embedding});
  }
  tell(-1);
}

void TrainingPass::backward_feed_forward(Index layer, const ModelParameters& gradients) {
  Backend& backend = model_.backend();
  const auto i = static_cast<std::size_t>(layer);
  const LayerActivations& a = layers_[i];
  const LayerParameters& weights = model_.product_views().layers[i];
  const LayerParameters& out = gradients.layers[i];
  const Index n = batch_windows_ * tokens_;
  const TensorView dx = first_rows(dx_, n);
  const TensorView dgate = first_rows(dgate_, n);
  const TensorView dup = first_rows(dup_, n);
  const TensorView act = first_rows(ffn_act_, n);
  const TensorView input = first_rows(a.ffn_in, n);
  const TensorView dinput = first_rows(dnorm_, n);

  const ConstTensorView dy =
      as_product(model_, dx, dx_product_.view().empty() ? TensorView{} : first_rows(dx_product_, n));
  // act holds its own gradient until swiglu_backward replaces it by the activation, recomputed.
  backend.matmul({.a = dy, .b = weights.w_down, .c = act});
  backend.swiglu_backward({first_rows(a.gate, n), first_rows(a.up, n), act, dgate, dup, act});
  add_weight_gradient(dy, act, out.w_down);
  add_weight_gradient(dgate, input, out.w_gate);
  add_weight_gradient(dup, input, out.w_up);
  backend.matmul({.a = dgate, .b = weights.w_gate, .c = dinput});
  backend.matmul({.a = dup, .b = weights.w_up, .c = dinput, .accumulate = true});
  backend.rmsnorm_backward({first_rows(a.x_mid, n), model_.views().layers[i].ffn_norm, first_rows(a.ffn_rstd, n),
                            dinput, dx, norm_gradient(out.ffn_norm)});
}

void TrainingPass::add_weight_gradient(ConstTensorView dy, ConstTensorView x, TensorView gradient) {
  if (gradient.empty()) return;
  model_.backend().matmul({.a = dy, .b = x, .c = gradient, .transpose_a = true, .accumulate = true});
}

// A few numbers that the op always writes: where nobody wants them they go aside.
TensorView TrainingPass::norm_gradient(TensorView gradient) const {
  return gradient.empty() ? dnorm_weight_.view() : gradient;
}

void TrainingPass::backward_attention(Index layer, const ModelParameters& gradients, bool ends_here) {
  Backend& backend = model_.backend();
  const auto i = static_cast<std::size_t>(layer);
  const LayerActivations& a = layers_[i];
  const LayerParameters& weights = model_.product_views().layers[i];
  const LayerParameters& own = model_.views().layers[i];
  const LayerParameters& out = gradients.layers[i];
  const Index b = batch_windows_;
  const Index n = b * tokens_;
  const TensorView dx = first_rows(dx_, n);
  const TensorView input = first_rows(a.attn_in, n);
  const TensorView dinput = first_rows(dnorm_, n);

  const ConstTensorView dy =
      as_product(model_, dx, dx_product_.view().empty() ? TensorView{} : first_rows(dx_product_, n));
  const TensorView attended = first_rows(a.attended_product.view().empty() ? a.attended : a.attended_product, b);
  const TensorView dattended = first_rows(dattended_, b);
  add_weight_gradient(dy, flat(attended), out.wo);
  backend.matmul({.a = dy, .b = weights.wo, .c = flat(dattended)});

  const bool learns_prior = model_.config().has_prior_parameters();
  const TensorView dprior = learns_prior ? dprior_.view() : TensorView{};
  if (learns_prior) backend.fill_zero(dprior);
  const TensorView dq = first_rows(dq_, b);
  const TensorView dk = first_rows(dk_, b);
  const TensorView dv = first_rows(dv_, b);
  backend.attention_backward({.q = first_rows(a.q, b),
                              .k = first_rows(a.k, b),
                              .v = first_rows(a.v, b),
                              .prior = tables_.prior(layer),
                              .first_key = first_rows(first_key_, b),
                              .ssmax_scale = own.ssmax_scale,
                              .ssmax = model_.config().ssmax,
                              .out = first_rows(a.attended, b),
                              .lse = first_rows(a.lse, b),
                              .dout = dattended,
                              .dq = dq,
                              .dk = dk,
                              .dv = dv,
                              .dprior = dprior,
                              .dssmax_scale = out.ssmax_scale});
  if (learns_prior) {
    const ModelConfig& config = model_.config();
    backend.prior_backward(
        {own.prior_shape, own.prior_scale, own.prior_loc, dprior, config.train_shape ? out.prior_shape : TensorView{},
         config.train_scale ? out.prior_scale : TensorView{}, config.train_loc ? out.prior_loc : TensorView{}});
  }
  if (ends_here) return;
  const ConstTensorView rotary = tables_.rotary();
  if (!rotary.empty()) {
    backend.rotary({dq, rotary, true});
    backend.rotary({dk, rotary, true});
  }
  struct Product {
    TensorView gradient, weight, dweight;
  };
  const Product products[] = {{dq, weights.wq, out.wq}, {dk, weights.wk, out.wk}, {dv, weights.wv, out.wv}};
  bool accumulate = false;
  for (const Product& p : products) {
    const TensorView rounded =
        dhead_product_.view().empty() ? TensorView{} : first_of(dhead_product_, p.gradient.shape);
    const ConstTensorView gradient = flat(as_product(model_, p.gradient, rounded));
    add_weight_gradient(gradient, input, p.dweight);
    backend.matmul({.a = gradient, .b = p.weight, .c = dinput, .accumulate = accumulate});
    accumulate = true;
  }
  backend.rmsnorm_backward(
      {first_rows(a.x_in, n), own.attn_norm, first_rows(a.attn_rstd, n), dinput, dx, norm_gradient(out.attn_norm)});
}

}  // namespace bam
