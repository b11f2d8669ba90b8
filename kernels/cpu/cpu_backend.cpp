#include "kernels/cpu/cpu_backend.h"

#include <omp.h>

#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/machine.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/ops.h"

namespace bam::cpu {
namespace {

// Linux grants memory that it does not have and kills somebody when it is touched: large requests are compared with
// what there is. Small ones are not worth reading three files.
void check_memory(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{64} << 20;
  if (bytes < kLarge) return;
  const std::size_t available = available_memory();
  if (bytes > available) {
    throw Error("memory: " + std::to_string(bytes >> 20) + " MiB are needed at once and " +
                std::to_string(available >> 20) + " MiB are available, a smaller model, batch or context is needed");
  }
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(int threads) : ctx_(threads, choose_isa()) {
    omp_set_dynamic(0);  // as many threads as were asked for, whatever the load: the bits of a sum depend on them
    omp_set_num_threads(threads);
  }

  std::string_view name() const override { return "cpu"; }
  std::string describe() const override {
    return std::string(name_of(ctx_.isa)) + ", " + std::to_string(ctx_.threads) +
           (ctx_.threads == 1 ? " thread, " : " threads, ") + describe_libraries();
  }
  DType real() const override { return DType::f32; }
  int threads() const override { return ctx_.threads; }

  double available_bytes() const override { return available_memory_bytes(); }
  void* allocate(std::size_t bytes) override {
    check_memory(bytes);
    return allocate_aligned(bytes);
  }
  void release(void* data) noexcept override { release_aligned(data); }
  void copy_in(TensorView device, ConstTensorView host) override { convert(host, device, ctx_); }
  void copy_out(TensorView host, ConstTensorView device) override { convert(device, host, ctx_); }
  void fill_zero(TensorView x) override { cpu::fill_zero(x, ctx_); }
  void synchronize() override {}

 private:
  void do_matmul(const MatmulArgs& args) override { matmul_.run(args, ctx_); }
  void do_embedding_forward(const EmbeddingForwardArgs& args) override { cpu::embedding_forward(args, ctx_); }
  void do_embedding_backward(const EmbeddingBackwardArgs& args) override { cpu::embedding_backward(args, ctx_); }
  void do_sinusoidal_table(const SinusoidalTableArgs& args) override { cpu::sinusoidal_table(args, ctx_); }
  void do_rmsnorm_forward(const RmsnormForwardArgs& args) override { cpu::rmsnorm_forward(args, ctx_); }
  void do_rmsnorm_backward(const RmsnormBackwardArgs& args) override { cpu::rmsnorm_backward(args, ctx_); }
  void do_rotary_table(const RotaryTableArgs& args) override { cpu::rotary_table(args, ctx_); }
  void do_rotary(const RotaryArgs& args) override { cpu::rotary(args, ctx_); }
  void do_prior_table(const PriorTableArgs& args) override { cpu::prior_table(args, ctx_); }
  void do_prior_backward(const PriorBackwardArgs& args) override { cpu::prior_backward(args, ctx_); }
  void do_alibi_table(const AlibiTableArgs& args) override { cpu::alibi_table(args, ctx_); }
  void do_key_bounds(const KeyBoundsArgs& args) override { cpu::key_bounds(args, ctx_); }
  void do_attention_forward(const AttentionForwardArgs& args) override { cpu::attention_forward(args, ctx_); }
  void do_attention_backward(const AttentionBackwardArgs& args) override { cpu::attention_backward(args, ctx_); }
  void do_swiglu_forward(const SwigluForwardArgs& args) override { cpu::swiglu_forward(args, ctx_); }
  void do_swiglu_backward(const SwigluBackwardArgs& args) override { cpu::swiglu_backward(args, ctx_); }
  void do_cross_entropy(const CrossEntropyArgs& args) override { cpu::cross_entropy(args, ctx_); }
  void do_optimizer_step(const OptimizerStepArgs& args) override { cpu::optimizer_step(args, ctx_); }
  void do_cast(const CastArgs& args) override { cpu::cast(args, ctx_); }
  void do_add(const AddArgs& args) override { cpu::add(args, ctx_); }
  void do_sum(const SumArgs& args) override { cpu::sum(args, ctx_); }

  CpuContext ctx_;
  Matmul matmul_;
};

}  // namespace

std::string describe_machine() {
  return std::string(name_of(choose_isa())) + ", " + describe_libraries();
}

std::unique_ptr<Backend> make_cpu_backend(int threads) {
  return std::make_unique<CpuBackend>(choose_threads(threads));
}

}  // namespace bam::cpu
