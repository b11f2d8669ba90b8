// Model - a configuration and its parameters on a backend: what training changes and evaluation reads.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "model/parameters.h"
#include "model/reading_rule.h"

namespace bam {

// Which type the matrix products read. Parameters, residuals, norms, softmax and loss are in the backend's real type.
enum class Products : std::uint8_t { real, bf16 };

const NameTable<Products>& products_names();  // "f32" (the real type), "bf16"

class Model {
 public:
  // Parameters are zero until initialise() or a checkpoint fills them. Throws Error for a configuration that cannot be,
  // and for bf16 on a backend whose real type is f64.
  Model(Backend& backend, const ModelConfig& config, Products products);

  Backend& backend() const { return backend_; }
  const ModelConfig& config() const { return config_; }
  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  DType real() const { return backend_.real(); }
  DType compute() const { return compute_; }  // type of activations that enter products

  // The parameters, and the matrices as the products read them (rounded copies in bf16, else the same memory).
  const ModelParameters& views() const { return views_; }
  const ModelParameters& product_views() const { return product_views_; }

  // To be called after parameters changed.
  void refresh_products();

  // How evaluation reads; training knows nothing of it. Throws UsageError for a rule that this model cannot follow.
  const ReadingRule& reading() const { return reading_; }
  void set_reading(const ReadingRule& rule);

 private:
  Backend& backend_;
  ModelConfig config_;
  DType compute_;
  ReadingRule reading_;
  ParameterSet parameters_;
  std::unique_ptr<ParameterSet> rounded_;  // bf16 only
  ModelParameters views_;
  ModelParameters product_views_;
};

}  // namespace bam
