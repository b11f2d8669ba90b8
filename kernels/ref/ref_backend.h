// ref - float64 plain loops, one thread: the truth the other backends are tested against.
// One .cpp per op family, as plain as a textbook; kernels/ops/*.h says what each computes. Tensors are f64 or i32.
#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bam::ref {

class RefBackend final : public Backend {
 public:
  std::string_view name() const override { return "ref"; }
  std::string describe() const override;
  DType real() const override { return DType::f64; }
  int threads() const override { return 1; }

  double available_bytes() const override;
  void* allocate(std::size_t bytes) override;
  void release(void* data) noexcept override;
  void copy_in(TensorView device, ConstTensorView host) override;
  void copy_out(TensorView host, ConstTensorView device) override;
  void fill_zero(TensorView x) override;
  void synchronize() override {}

 private:
  void do_matmul(const MatmulArgs& args) override;
  void do_embedding_forward(const EmbeddingForwardArgs& args) override;
  void do_embedding_backward(const EmbeddingBackwardArgs& args) override;
  void do_sinusoidal_table(const SinusoidalTableArgs& args) override;
  void do_rmsnorm_forward(const RmsnormForwardArgs& args) override;
  void do_rmsnorm_backward(const RmsnormBackwardArgs& args) override;
  void do_rotary_table(const RotaryTableArgs& args) override;
  void do_rotary(const RotaryArgs& args) override;
  void do_prior_table(const PriorTableArgs& args) override;
  void do_prior_backward(const PriorBackwardArgs& args) override;
  void do_alibi_table(const AlibiTableArgs& args) override;
  void do_key_bounds(const KeyBoundsArgs& args) override;
  void do_attention_forward(const AttentionForwardArgs& args) override;
  void do_attention_backward(const AttentionBackwardArgs& args) override;
  void do_swiglu_forward(const SwigluForwardArgs& args) override;
  void do_swiglu_backward(const SwigluBackwardArgs& args) override;
  void do_cross_entropy(const CrossEntropyArgs& args) override;
  void do_optimizer_step(const OptimizerStepArgs& args) override;
  void do_cast(const CastArgs& args) override;
  void do_add(const AddArgs& args) override;
  void do_sum(const SumArgs& args) override;
};

std::unique_ptr<Backend> make_ref_backend(int threads);  // one thread, whatever is asked for

}  // namespace bam::ref
