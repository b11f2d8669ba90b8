// The ops of this backend but for matmul.h and attention.h, one .cpp per header of kernels/ops. Arguments come checked.
#pragma once

#include "kernels/backend.h"
#include "kernels/cpu/context.h"

namespace bam::cpu {

void embedding_forward(const EmbeddingForwardArgs& args, CpuContext& ctx);
void embedding_backward(const EmbeddingBackwardArgs& args, CpuContext& ctx);
void sinusoidal_table(const SinusoidalTableArgs& args, CpuContext& ctx);
void rmsnorm_forward(const RmsnormForwardArgs& args, CpuContext& ctx);
void rmsnorm_backward(const RmsnormBackwardArgs& args, CpuContext& ctx);
void rotary_table(const RotaryTableArgs& args, CpuContext& ctx);
void rotary(const RotaryArgs& args, CpuContext& ctx);
void prior_table(const PriorTableArgs& args, CpuContext& ctx);
void prior_backward(const PriorBackwardArgs& args, CpuContext& ctx);
void alibi_table(const AlibiTableArgs& args, CpuContext& ctx);
void swiglu_forward(const SwigluForwardArgs& args, CpuContext& ctx);
void swiglu_backward(const SwigluBackwardArgs& args, CpuContext& ctx);
void cross_entropy(const CrossEntropyArgs& args, CpuContext& ctx);
void optimizer_step(const OptimizerStepArgs& args, CpuContext& ctx);
void cast(const CastArgs& args, CpuContext& ctx);
void add(const AddArgs& args, CpuContext& ctx);
void fill_zero(const TensorView& x, CpuContext& ctx);
void sum(const SumArgs& args, CpuContext& ctx);

// Any dtype to any other, i32 to i32 alone.
void convert(const ConstTensorView& from, const TensorView& to, CpuContext& ctx);

// Element `index` of a view; T must be what the view's dtype says.
template <typename T = void>
const T* at(const ConstTensorView& view, Index index = 0) {
  return static_cast<const T*>(
      static_cast<const void*>(static_cast<const char*>(view.data) + index * static_cast<Index>(size_of(view.dtype))));
}
template <typename T = void>
T* at(const TensorView& view, Index index = 0) {
  return static_cast<T*>(
      static_cast<void*>(static_cast<char*>(view.data) + index * static_cast<Index>(size_of(view.dtype))));
}

inline bool is_half(const ConstTensorView& view) {
  return view.dtype == DType::bf16;
}

}  // namespace bam::cpu
