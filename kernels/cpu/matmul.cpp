// f32: dnnl_sgemm. A matmul primitive ends in the same generated kernel ("gemm:jit") and needs a cache by shape;
// measured on 2 threads of a Zen 3 at 2.45 GHz, GFLOP/s as sgemm / primitive, and the same adding to c (an append_sum
// post-op):
//   [2048,2048,2048]        149 / 157    157 / 159         a transposed, [768,768,4096]     155 / 163    155 / 165
//   b transposed [4096,768,768]  155 / 155    155 / 149    b transposed [1024,32768,768]    165 / 159    164 / 148
//   b transposed [2048,128,128]  148 / 156    146 / 138    a transposed, [256,128,2048]     120 / 110    119 / 104
//   b transposed [16,128,128]     76 / 43      54 / 41
// bf16 where the CPU multiplies bf16: matmul primitives. Elsewhere both operands are widened to f32, which is exact, so
// that only the order of the sum differs between machines. Widening costs 1 to 5 % at the sizes of a 120M model, 10 %
// at those of tiny.
#include "kernels/cpu/matmul.h"

#include <omp.h>

#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <tuple>

#include "base/error.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

struct Sizes {
  Index m, n, k;
};

Sizes sizes_of(const MatmulArgs& args) {
  return {args.c.shape[0], args.c.shape[1], args.transpose_a ? args.a.shape[0] : args.a.shape[1]};
}

// Everything a primitive is made for.
struct Key {
  Index m, n, k;
  bool transpose_a, transpose_b, accumulate, half_c;
  int threads;
  auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): taken for a 0 in what it generates
};

using DataType = dnnl::memory::data_type;

dnnl::memory::desc matrix(Index rows, Index columns, bool transposed, DataType type) {
  const dnnl::memory::dims strides = transposed ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1};
  return {{rows, columns}, type, strides};
}

dnnl::matmul::primitive_desc describe(const Key& key, const dnnl::engine& engine) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (key.accumulate) {
    dnnl::post_ops ops;
    ops.append_sum(1.0f);
    attributes.set_post_ops(ops);
  }
  const auto a = matrix(key.m, key.k, key.transpose_a, DataType::bf16);
  const auto b = matrix(key.k, key.n, key.transpose_b, DataType::bf16);
  const auto c = matrix(key.m, key.n, false, key.half_c ? DataType::bf16 : DataType::f32);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, engine};
#endif
}

// Empty when oneDNN has no bf16 product for this CPU, only its plain loops ("ref"), or one that cannot be trusted: of
// an odd k, version 2.6 on AMX tiles dies of an illegal instruction or gives wrong sums (33 x 80 x 63; oneDNN issue
// 1661). A model has such a k in the weight gradients of an odd number of tokens alone.
std::optional<dnnl::matmul::primitive_desc> find_native(const Key& key, const dnnl::engine& engine) {
  try {
    dnnl::matmul::primitive_desc found = describe(key, engine);
    const std::string implementation = found.impl_info_str();
    const auto is = [&](const char* part) { return implementation.find(part) != std::string::npos; };
    if (is("ref") || (is("amx") && key.k % 2 != 0)) return std::nullopt;
    return found;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

void sgemm(const MatmulArgs& args, const float* a, const float* b, float* c) {
  const Sizes s = sizes_of(args);
  const dnnl_status_t status =
      dnnl_sgemm(args.transpose_a ? 'T' : 'N', args.transpose_b ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a,
                 args.transpose_a ? s.m : s.k, b, args.transpose_b ? s.k : s.n, args.accumulate ? 1.0f : 0.0f, c, s.n);
  if (status != dnnl_success) {
    throw Error("matmul: oneDNN failed with status " + std::to_string(static_cast<int>(status)) + " on " +
                args.a.shape.text() + " by " + args.b.shape.text() + ", probably for want of memory");
  }
}

// The operand itself, or its values widened.
const float* as_floats(const ConstTensorView& x, Slot slot, CpuContext& ctx) {
  if (!is_half(x)) return at<float>(x);
  const Index count = x.count();
  auto* wide = static_cast<float*>(ctx.shared(slot, static_cast<std::size_t>(count) * sizeof(float)));
  convert(x, TensorView{wide, DType::f32, x.shape}, ctx);
  return wide;
}

void run_in_f32(const MatmulArgs& args, CpuContext& ctx) {
  const float* a = as_floats(args.a, Slot::matmul_a, ctx);
  const float* b = as_floats(args.b, Slot::matmul_b, ctx);
  if (!is_half(args.c)) return sgemm(args, a, b, at<float>(args.c));
  auto* c = static_cast<float*>(ctx.shared(Slot::matmul_c, static_cast<std::size_t>(args.c.count()) * sizeof(float)));
  sgemm(args, a, b, c);
  convert(ConstTensorView{c, DType::f32, args.c.shape}, args.c, ctx);
}

}  // namespace

bool has_native_bf16() {
  static const bool native = [] {
    constexpr auto kWanted = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
    if ((static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & kWanted) != kWanted) return false;
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return find_native({64, 64, 64, false, true, false, false, 1}, engine).has_value();
  }();
  return native;
}

class Matmul::Primitives {
 public:
  // False when this shape has no native primitive.
  bool run(const MatmulArgs& args, CpuContext& ctx) {
    const Sizes s = sizes_of(args);
    const Key key{s.m, s.n, s.k, args.transpose_a, args.transpose_b, args.accumulate, is_half(args.c), ctx.threads};
    const std::optional<Entry>& entry = find(key);
    if (!entry) return false;
    const auto& what = entry->description;
    // oneDNN takes inputs through pointers to non-const, and does not write to them.
    const auto view = [this](const dnnl::memory::desc& desc, const void* data) {
      return dnnl::memory(desc, engine_, const_cast<void*>(data));
    };
    void* scratch = ctx.shared(Slot::matmul_library, what.scratchpad_desc().get_size());
    entry->primitive.execute(stream_, {{DNNL_ARG_SRC, view(what.src_desc(), args.a.data)},
                                       {DNNL_ARG_WEIGHTS, view(what.weights_desc(), args.b.data)},
                                       {DNNL_ARG_DST, view(what.dst_desc(), args.c.data)},
                                       {DNNL_ARG_SCRATCHPAD, view(what.scratchpad_desc(), scratch)}});
    stream_.wait();
    return true;
  }

 private:
  struct Entry {
    dnnl::matmul::primitive_desc description;
    dnnl::matmul primitive;
  };

  const std::optional<Entry>& find(const Key& key) {
    const auto known = entries_.find(key);
    if (known != entries_.end()) return known->second;
    // A training loop has about 30 shapes; only prompts of all lengths pass this, and starting over costs them little.
    constexpr std::size_t kMostEntries = 512;
    if (entries_.size() >= kMostEntries) entries_.clear();
    std::optional<Entry> made;
    if (auto description = find_native(key, engine_)) made.emplace(Entry{*description, dnnl::matmul(*description)});
    return entries_.emplace(key, std::move(made)).first->second;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<Key, std::optional<Entry>> entries_;
};

Matmul::Matmul() : primitives_(has_native_bf16() ? std::make_unique<Primitives>() : nullptr) {}
Matmul::~Matmul() = default;

void Matmul::run(const MatmulArgs& args, CpuContext& ctx) {
  const Sizes s = sizes_of(args);
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) {  // an empty sum
    if (!args.accumulate) fill_zero(args.c, ctx);
    return;
  }
  omp_set_num_threads(ctx.threads);  // oneDNN asks OpenMP, whose number belongs to the calling thread, not to us
  try {
    if (primitives_ != nullptr && is_half(args.a) && primitives_->run(args, ctx)) return;
  } catch (const dnnl::error& error) {
    throw Error(std::string("matmul: oneDNN failed: ") + error.what());
  }
  run_in_f32(args, ctx);
}

}  // namespace bam::cpu
