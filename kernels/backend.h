// Backend - the one interface between the model and the machine: memory, and one function per op.
// A public function checks shapes, dtypes and aliasing (check.cpp) and hands on to the backend's do_ function; a
// backend that lacks an op does not compile. Ops run in the order given.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/device_group.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/embedding.h"
#include "kernels/ops/loss.h"
#include "kernels/ops/matmul.h"
#include "kernels/ops/mlp.h"
#include "kernels/ops/norm.h"
#include "kernels/ops/optimizer.h"
#include "kernels/ops/prior.h"
#include "kernels/ops/rotary.h"
#include "kernels/tensor.h"

namespace bam {

// Where ids must lie, number i of them: low <= id < high and, with a period, own - reach < id <= own besides, where
// own = before + i % period: a row may see itself at most, and no key further back than the reach.
struct IdRange {
  Index low = 0;
  Index high = 0;
  Index period = 0;
  Index before = 0;
  Index reach = 0;

  constexpr Index low_at(Index i) const {
    if (period == 0) return low;
    const Index least = before + i % period - reach + 1;
    return low > least ? low : least;
  }
  constexpr Index high_at(Index i) const {
    if (period == 0) return high;
    const Index most = before + i % period + 1;
    return high < most ? high : most;
  }
};

std::string wrong_id_text(std::string_view op, const char* name, Index id, Index place, const IdRange& range);

// Ops that are asked for again and again: see Backend::repeat. Goes before the tensors that they work on, and before
// the backend.
class Routine {
 public:
  struct Kept {  // a backend's own
    virtual ~Kept() = default;
  };
  std::unique_ptr<Kept> kept;
};

class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual std::string_view name() const = 0;  // "ref", "cpu"
  virtual std::string describe() const = 0;   // one line for logs: instruction set, threads, libraries
  virtual DType real() const = 0;  // parameters, residuals, norms, softmax, losses: f64 for ref, f32 elsewhere
  virtual int threads() const = 0;
  // In which dtype attention wants q, k and v of heads of `dim` from a model whose products read `products`: where
  // attention multiplies in the real type anyhow, rounding them would cost digits and save nothing.
  virtual DType attention_type(DType, Index) const { return real(); }

  // What can still be allocated, so that what cannot fit is refused before it starts.
  virtual double available_bytes() const = 0;
  // Device memory, 64-byte aligned, not initialised. Throws Error when there is none left.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;
  // Between host and device, converting dtype where the two views differ (f32 <-> f64, f32 <-> bf16). Equal counts.
  // The host's memory may be used again when they return, and holds what was asked for.
  virtual void copy_in(TensorView device, ConstTensorView host) = 0;
  virtual void copy_out(TensorView host, ConstTensorView device) = 0;
  virtual void fill_zero(TensorView x) = 0;
  virtual void synchronize() = 0;

  // Does what `ops` asks of this backend: the same for the same routine every time, the same ops on the same memory
  // with the same numbers, so that a backend may keep what it takes to do it and not call `ops` again. What differs
  // from time to time stands in tensors. Ops and fill_zero alone: no copies, no memory, no waiting.
  virtual void repeat(Routine&, const std::function<void()>& ops) { ops(); }

  // For processes that compute together: a group that this backend's device may join, or null where memory is the
  // host's. One at a time, and it goes before the backend. Throws Error where what it needs is missing.
  virtual std::unique_ptr<DeviceGroup> make_group() { return nullptr; }

  // Throws Error "OP: NAME has ID at PLACE, expected ..." for an id outside its range: at once, before the op begins,
  // or, where looking would stop a device, at the next call that waits for the device (copy_out, synchronize);
  // what was computed till then is worth nothing, and the id is no longer what it was.
  virtual void check_ids(std::string_view op, const char* name, ConstTensorView ids, const IdRange& range);

  void matmul(const MatmulArgs& args);
  void embedding_forward(const EmbeddingForwardArgs& args);
  void embedding_backward(const EmbeddingBackwardArgs& args);
  void sinusoidal_table(const SinusoidalTableArgs& args);
  void rmsnorm_forward(const RmsnormForwardArgs& args);
  void rmsnorm_backward(const RmsnormBackwardArgs& args);
  void rotary_table(const RotaryTableArgs& args);
  void rotary(const RotaryArgs& args);
  void prior_table(const PriorTableArgs& args);
  void prior_backward(const PriorBackwardArgs& args);
  void alibi_table(const AlibiTableArgs& args);
  void key_bounds(const KeyBoundsArgs& args);
  void attention_forward(const AttentionForwardArgs& args);
  void attention_backward(const AttentionBackwardArgs& args);
  void swiglu_forward(const SwigluForwardArgs& args);
  void swiglu_backward(const SwigluBackwardArgs& args);
  void cross_entropy(const CrossEntropyArgs& args);
  void optimizer_step(const OptimizerStepArgs& args);
  void cast(const CastArgs& args);
  void add(const AddArgs& args);
  void sum(const SumArgs& args);

 private:
  virtual void do_matmul(const MatmulArgs& args) = 0;
  virtual void do_embedding_forward(const EmbeddingForwardArgs& args) = 0;
  virtual void do_embedding_backward(const EmbeddingBackwardArgs& args) = 0;
  virtual void do_sinusoidal_table(const SinusoidalTableArgs& args) = 0;
  virtual void do_rmsnorm_forward(const RmsnormForwardArgs& args) = 0;
  virtual void do_rmsnorm_backward(const RmsnormBackwardArgs& args) = 0;
  virtual void do_rotary_table(const RotaryTableArgs& args) = 0;
  virtual void do_rotary(const RotaryArgs& args) = 0;
  virtual void do_prior_table(const PriorTableArgs& args) = 0;
  virtual void do_prior_backward(const PriorBackwardArgs& args) = 0;
  virtual void do_alibi_table(const AlibiTableArgs& args) = 0;
  virtual void do_key_bounds(const KeyBoundsArgs& args) = 0;
  virtual void do_attention_forward(const AttentionForwardArgs& args) = 0;
  virtual void do_attention_backward(const AttentionBackwardArgs& args) = 0;
  virtual void do_swiglu_forward(const SwigluForwardArgs& args) = 0;
  virtual void do_swiglu_backward(const SwigluBackwardArgs& args) = 0;
  virtual void do_cross_entropy(const CrossEntropyArgs& args) = 0;
  virtual void do_optimizer_step(const OptimizerStepArgs& args) = 0;
  virtual void do_cast(const CastArgs& args) = 0;
  virtual void do_add(const AddArgs& args) = 0;
  virtual void do_sum(const SumArgs& args) = 0;
};

// Owns device memory of one backend.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Backend& backend, std::size_t bytes) : backend_(&backend), data_(backend.allocate(bytes)) {}
  Buffer(Buffer&& other) noexcept : backend_(other.backend_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) backend_->release(data_);
  }
  void* data() const { return data_; }

 private:
  Backend* backend_ = nullptr;
  void* data_ = nullptr;
};

// A tensor that owns its memory.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Backend& backend, DType dtype, Shape shape)
      : buffer_(backend, static_cast<std::size_t>(shape.count()) * size_of(dtype)), dtype_(dtype), shape_(shape) {}

  TensorView view() const { return {buffer_.data(), dtype_, shape_}; }
  operator TensorView() const { return view(); }       // NOLINT: a tensor is used as its view
  operator ConstTensorView() const { return view(); }  // NOLINT
  const Shape& shape() const { return shape_; }

 private:
  Buffer buffer_;
  DType dtype_ = DType::f32;
  Shape shape_;
};

}  // namespace bam
