#include "kernels/cuda/cuda_backend.h"

#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/group.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/product.h"
#include "kernels/cuda/stream.h"
#include "kernels/cuda/transfer.h"

namespace bam::cuda {
namespace {

bool is_set(const char* variable, std::string_view to) {
  const char* const value = std::getenv(variable);
  return value != nullptr && value == to;
}

DeviceInfo opened(int device) {
  open_device(device);
  return ask_device(device);
}

// What a routine's ops come to, played after they were done once by themselves: by then all that they look up and
// allocate is there.
class Recording final : public Routine::Kept {
 public:
  ~Recording() override {
    if (made != nullptr) destroy_recording(made);
  }
  void* made = nullptr;
  int attempts = 0;
};

template <typename Args>
AttentionInputs inputs_of(const Args& args) {
  const Shape& q = args.q.shape;
  const Shape& k = args.k.shape;
  const bool scales = args.ssmax != Ssmax::off;
  return {args.q.data,
          args.k.data,
          args.v.data,
          is_half(args.q),
          data_of<float>(args.prior),
          data_of<std::int32_t>(args.first_key),
          scales ? data_of<float>(args.ssmax_scale) : nullptr,
          args.ssmax == Ssmax::full,
          q[0],
          q[1],
          k[1],
          q[2],
          k[2],
          q[3],
          args.prior.empty() ? 0 : args.prior.shape[1]};
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device)
      : info_(opened(device)),
        tf32_(is_set("BAM_CUDA_TF32", "1")),
        records_(!is_set("BAM_CUDA_GRAPHS", "0")),
        transfer_(stream_.get()),
        product_(tf32_),
        wrong_id_(static_cast<WrongId*>(memory_.take(sizeof(WrongId)))) {
    cuda::fill_zero(wrong_id_, sizeof(WrongId), stream_.get());
  }
  ~CudaBackend() override { release_all_quietly(); }

  std::string_view name() const override { return "cuda"; }
  std::string describe() const override {
    return info_.name + ", " + std::to_string(info_.bytes >> 30) + " GiB, " + info_.runtime +
           (tf32_ ? ", f32 products in TF32" : "");
  }
  DType real() const override { return DType::f32; }
  int threads() const override { return 1; }
  DType attention_type(DType products, Index dim) const override {
    AttentionInputs heads{};
    heads.bf16 = products == DType::bf16;
    heads.dim = dim;
    return takes_tensor_cores(heads) ? DType::bf16 : DType::f32;
  }
  double available_bytes() const override { return static_cast<double>(free_device_memory() + memory_.kept_bytes()); }

  void* allocate(std::size_t bytes) override {
    refuse_in_routine();
    return memory_.take(bytes);
  }
  void release(void* data) noexcept override { memory_.give(data); }
  void copy_in(TensorView device, ConstTensorView host) override {
    refuse_in_routine();
    transfer_.in(device, host);
  }
  void copy_out(TensorView host, ConstTensorView device) override {
    refuse_in_routine();
    if (group_ != nullptr) group_->wait();
    transfer_.out(host, device);
    tell_of_wrong_ids();
  }
  void fill_zero(TensorView x) override {
    if (x.bytes() > 0) cuda::fill_zero(x.data, x.bytes(), stream_.get());
  }
  void synchronize() override {
    refuse_in_routine();
    if (group_ != nullptr) group_->wait();
    cuda::synchronize(stream_.get());
    tell_of_wrong_ids();
  }
  void check_ids(std::string_view op, const char* name, ConstTensorView ids, const IdRange& range) override {
    // The ids are the caller's, who gets an error if one has to be replaced.
    auto* const data = static_cast<std::int32_t*>(const_cast<void*>(ids.data));
    cuda::check_ids(data, ids.count(), range, kind_of_check(op, name), wrong_id_, ctx());
    ids_were_checked_ = true;
  }
  void repeat(Routine& routine, const std::function<void()>& ops) override;
  std::unique_ptr<DeviceGroup> make_group() override {
    return std::make_unique<Group>(info_.bus_id, stream_.get(), group_);
  }

 private:
  struct IdCheck {
    std::string op, name;
  };

  void record(Recording& recording, const std::function<void()>& ops);
  Context ctx() { return {stream_.get(), &memory_}; }

  void release_all_quietly() noexcept {
    try {
      cuda::synchronize(stream_.get());  // before the memory of its kernels goes
    } catch (const Error&) {             // was told of when it happened
    }
  }

  // What a recording holds would be the same every time, or not there at all.
  void refuse_in_routine() const {
    if (in_routine_) throw Error("cuda: a routine asks for more than ops");
  }

  // From 1 on, for good: recordings know them.
  Index kind_of_check(std::string_view op, std::string_view name) {
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (checks_[i].op == op && checks_[i].name == name) return static_cast<Index>(i) + 1;
    }
    checks_.push_back({std::string(op), std::string(name)});
    return std::ssize(checks_);
  }

  // The device has just been waited for.
  void tell_of_wrong_ids() {
    if (!ids_were_checked_) return;
    ids_were_checked_ = false;
    WrongId found{};
    fetch(&found, wrong_id_, sizeof found);
    if (found.kind == 0) return;
    cuda::fill_zero(wrong_id_, sizeof(WrongId), stream_.get());
    const IdCheck& check = checks_[static_cast<std::size_t>(found.kind - 1)];
    throw Error(wrong_id_text(check.op, check.name.c_str(), found.id, found.place, found.range));
  }

  // Plain bytes, as 32-bit words.
  void fetch(void* to, const void* from, std::size_t bytes) {
    const Shape words{static_cast<Index>(bytes / 4)};
    transfer_.out({to, DType::i32, words}, {from, DType::i32, words});
  }

  void do_matmul(const MatmulArgs& args) override { product_.run(args, ctx()); }
  void do_embedding_forward(const EmbeddingForwardArgs& args) override { cuda::embedding_forward(args, ctx()); }
  void do_embedding_backward(const EmbeddingBackwardArgs& args) override { cuda::embedding_backward(args, ctx()); }
  void do_sinusoidal_table(const SinusoidalTableArgs& args) override { cuda::sinusoidal_table(args, ctx()); }
  void do_rmsnorm_forward(const RmsnormForwardArgs& args) override { cuda::rmsnorm_forward(args, ctx()); }
  void do_rmsnorm_backward(const RmsnormBackwardArgs& args) override { cuda::rmsnorm_backward(args, ctx()); }
  void do_rotary_table(const RotaryTableArgs& args) override {
    const Scratch<double> frequencies(ctx(), std::ssize(args.inverse_frequency));
    send(frequencies, args.inverse_frequency);
    cuda::rotary_table(args, frequencies.data(), ctx());
  }
  void do_rotary(const RotaryArgs& args) override { cuda::rotary(args, ctx()); }
  void do_prior_table(const PriorTableArgs& args) override {
    cuda::prior_table({data_of<float>(args.shape), data_of<float>(args.scale), data_of<float>(args.loc),
                       data_of<float>(args.table), args.table.shape[0], args.table.shape[1]},
                      stream_.get());
  }
  void do_prior_backward(const PriorBackwardArgs& args) override { cuda::prior_backward(args, ctx()); }
  void do_alibi_table(const AlibiTableArgs& args) override {
    const Scratch<double> slopes(ctx(), std::ssize(args.slopes));
    send(slopes, args.slopes);
    cuda::alibi_table(args, slopes.data(), ctx());
  }
  void do_key_bounds(const KeyBoundsArgs& args) override {
    const Shape& k = args.k.shape;
    cuda::key_bounds(
        {args.k.data, args.v.data, is_half(args.k), k[0], k[1], k[2], k[3], args.first, data_of<float>(args.bounds)},
        stream_.get());
  }
  void do_attention_forward(const AttentionForwardArgs& args) override;
  void do_attention_backward(const AttentionBackwardArgs& args) override;
  void do_swiglu_forward(const SwigluForwardArgs& args) override { cuda::swiglu_forward(args, ctx()); }
  void do_swiglu_backward(const SwigluBackwardArgs& args) override { cuda::swiglu_backward(args, ctx()); }
  void do_cross_entropy(const CrossEntropyArgs& args) override { cuda::cross_entropy(args, ctx()); }
  void do_optimizer_step(const OptimizerStepArgs& args) override { cuda::optimizer_step(args, ctx()); }
  void do_cast(const CastArgs& args) override { cuda::cast(args, ctx()); }
  void do_add(const AddArgs& args) override { cuda::add(args, ctx()); }
  void do_sum(const SumArgs& args) override { cuda::sum(args, ctx()); }

  // Numbers of the host for the length of a call.
  void send(const Scratch<double>& to, std::span<const double> values) {
    refuse_in_routine();
    const Shape shape{std::ssize(values)};
    transfer_.in({to.data(), DType::f64, shape}, {values.data(), DType::f64, shape});
  }

  DeviceInfo info_;
  bool tf32_;
  bool records_;
  Stream stream_;  // outlives what is on it
  Group* group_ = nullptr;
  Memory memory_;
  Transfer transfer_;
  Product product_;
  WrongId* wrong_id_;              // what kernels leave for the host
  std::vector<IdCheck> checks_;    // every kind there has been
  bool ids_were_checked_ = false;  // since the device was last waited for
  bool in_routine_ = false;        // that is being recorded
};

void CudaBackend::repeat(Routine& routine, const std::function<void()>& ops) {
  constexpr int kMostAttempts = 3;
  auto* const kept = static_cast<Recording*>(routine.kept.get());
  if (kept == nullptr) routine.kept = std::make_unique<Recording>();
  if (!records_ || kept == nullptr || kept->attempts == kMostAttempts) return ops();
  if (kept->made == nullptr) {
    ++kept->attempts;
    record(*kept, ops);
    if (kept->made == nullptr) return ops();
    kept->attempts = 0;
  }
  play_recording(kept->made, stream_.get());
  ids_were_checked_ = true;
}

// Leaves nothing behind where it fails: what was asked for has not been done, and is told of when it is.
void CudaBackend::record(Recording& recording, const std::function<void()>& ops) {
  begin_recording(stream_.get());
  memory_.begin_recording();
  in_routine_ = true;
  bool whole = true;
  try {
    ops();
  } catch (const std::exception&) {
    whole = false;
  }
  in_routine_ = false;
  memory_.end_recording();
  recording.made = end_recording(stream_.get());
  if (whole || recording.made == nullptr) return;
  destroy_recording(recording.made);
  recording.made = nullptr;
}

void CudaBackend::do_attention_forward(const AttentionForwardArgs& args) {
  AttentionForward call{.in = inputs_of(args),
                        .out = data_of<float>(args.out),
                        .lse = data_of<float>(args.lse),
                        .skip_eps = args.skip_eps,
                        .key_bounds = data_of<float>(args.key_bounds),
                        .skipped = data_of<float>(args.skipped),
                        .scratch = nullptr};
  const Scratch<char> scratch(ctx(), static_cast<Index>(attention_forward_scratch(call)));
  call.scratch = scratch.data();
  cuda::attention_forward(call, stream_.get());
}

void CudaBackend::do_attention_backward(const AttentionBackwardArgs& args) {
  AttentionBackward call{.in = inputs_of(args),
                         .out = data_of<float>(args.out),
                         .lse = data_of<float>(args.lse),
                         .dout = args.dout.data,
                         .dq = args.dq.data,
                         .dk = args.dk.data,
                         .dv = args.dv.data,
                         .dprior = data_of<float>(args.dprior),
                         .dssmax_scale = data_of<float>(args.dssmax_scale),
                         .scratch = nullptr};
  const Scratch<char> scratch(ctx(), static_cast<Index>(attention_backward_scratch(call)));
  call.scratch = scratch.data();
  cuda::attention_backward(call, stream_.get());
}

}  // namespace

std::string describe_devices() {
  const int count = count_devices();
  const std::string first = ask_device(0).name;
  return count == 1 ? first : std::to_string(count) + " devices, the first " + first;
}

std::unique_ptr<Backend> make_cuda_backend(int device) {
  const int count = count_devices();
  if (device >= count) {
    throw Error("there is no device " + std::to_string(device) + ", expected below " + std::to_string(count));
  }
  return std::make_unique<CudaBackend>(device);
}

}  // namespace bam::cuda
