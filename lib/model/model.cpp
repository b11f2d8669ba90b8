#include "model/model.h"

#include "base/error.h"

namespace bam {

const NameTable<Products>& products_names() {
  static const NameTable<Products> table = {{"f32", Products::real}, {"bf16", Products::bf16}};
  return table;
}

namespace {

const ModelConfig& validated(const ModelConfig& config) {
  validate(config);
  return config;
}

DType compute_type(const Backend& backend, Products products) {
  if (products == Products::real) return backend.real();
  if (backend.real() == DType::f64)
    throw Error("--dtype bf16: the backend '" + std::string(backend.name()) + "' computes in float64 only");
  return DType::bf16;
}

}  // namespace

Model::Model(Backend& backend, const ModelConfig& config, Products products)
    : backend_(backend),
      config_(validated(config)),
      compute_(compute_type(backend, products)),
      parameters_(backend, config, backend.real()),
      views_(views_of(parameters_, config)) {
  if (compute_ != real()) rounded_ = std::make_unique<ParameterSet>(backend, config, compute_);
  product_views_ = views_of(rounded_ ? *rounded_ : parameters_, config);
}

void Model::set_reading(const ReadingRule& rule) {
  check_reading(rule, config_);
  reading_ = rule;
}

void Model::refresh_products() {
  if (!rounded_) return;
  for (std::size_t i = 0; i < parameters_.infos().size(); ++i) {
    if (parameters_.infos()[i].role == ParameterRole::matrix) backend_.cast({parameters_[i], (*rounded_)[i]});
  }
}

}  // namespace bam
