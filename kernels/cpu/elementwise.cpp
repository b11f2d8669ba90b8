#include "kernels/ops/elementwise.h"

#include <cstring>

#include "base/error.h"
#include "kernels/cpu/ops.h"
#include "kernels/cpu/parallel.h"

namespace bam::cpu {
namespace {

constexpr Index pair_of(DType from, DType to) {
  return static_cast<Index>(from) * 16 + static_cast<Index>(to);
}

template <typename From, typename To>
void convert_each(const void* from, void* to, Index count) {
  const auto* in = static_cast<const From*>(from);
  auto* out = static_cast<To*>(to);
  for (Index i = 0; i < count; ++i) out[i] = static_cast<To>(in[i]);
}

// Between double and bf16 by way of float, a piece at a time. Rounding twice differs from rounding once only where a
// double lies within 2^-29 of a tie.
void widen_to_double(const SimdKernels& simd, const void* from, void* to, Index count) {
  float piece[256];
  for (Index i = 0; i < count; i += 256) {
    const Index n = std::min<Index>(256, count - i);
    simd.widen(static_cast<const Bf16*>(from) + i, piece, n);
    convert_each<float, double>(piece, static_cast<double*>(to) + i, n);
  }
}

void narrow_from_double(const SimdKernels& simd, const void* from, void* to, Index count) {
  float piece[256];
  for (Index i = 0; i < count; i += 256) {
    const Index n = std::min<Index>(256, count - i);
    convert_each<double, float>(static_cast<const double*>(from) + i, piece, n);
    simd.narrow(piece, static_cast<Bf16*>(to) + i, n);
  }
}

void convert_part(const SimdKernels& simd, DType from, const void* x, DType to, void* y, Index n) {
  switch (pair_of(from, to)) {
    case pair_of(DType::bf16, DType::f32):
      return simd.widen(static_cast<const Bf16*>(x), static_cast<float*>(y), n);
    case pair_of(DType::f32, DType::bf16):
      return simd.narrow(static_cast<const float*>(x), static_cast<Bf16*>(y), n);
    case pair_of(DType::f64, DType::f32):
      return convert_each<double, float>(x, y, n);
    case pair_of(DType::f32, DType::f64):
      return convert_each<float, double>(x, y, n);
    case pair_of(DType::bf16, DType::f64):
      return widen_to_double(simd, x, y, n);
    case pair_of(DType::f64, DType::bf16):
      return narrow_from_double(simd, x, y, n);
    default:
      std::memcpy(y, x, static_cast<std::size_t>(n) * size_of(to));
  }
}

// Sums of blocks of fixed size, added in order: the same bits for every thread count.
double sum_blocks(const ConstTensorView& x, CpuContext& ctx, double (*sum_block)(const float*, Index)) {
  constexpr Index kBlock = 65536;
  const Index count = x.count();
  const Index blocks = (count + kBlock - 1) / kBlock;
  auto* sums = static_cast<double*>(ctx.shared(Slot::partial_sums, static_cast<std::size_t>(blocks) * sizeof(double)));
  parallel_rows(ctx, blocks, kBlock, [&](Index first, Index last) {
    for (Index block = first; block < last; ++block) {
      sums[block] = sum_block(at<float>(x, block * kBlock), std::min(kBlock, count - block * kBlock));
    }
  });
  double total = 0;
  for (Index block = 0; block < blocks; ++block) total += sums[block];
  return total;
}

}  // namespace

void convert(const ConstTensorView& from, const TensorView& to, CpuContext& ctx) {
  const bool differ = from.dtype != to.dtype;
  if (from.count() != to.count() || (differ && (from.dtype == DType::i32 || to.dtype == DType::i32))) {
    throw Error("copy: " + std::string(name_of(from.dtype)) + from.shape.text() + " does not fit " +
                std::string(name_of(to.dtype)) + to.shape.text() + ", expected equal counts of real numbers or of i32");
  }
  parallel_elements(ctx, to.count(), [&](Index first, Index count) {
    convert_part(*ctx.simd, from.dtype, at(from, first), to.dtype, at(to, first), count);
  });
}

void cast(const CastArgs& args, CpuContext& ctx) {
  convert(args.from, args.to, ctx);
}

void add(const AddArgs& args, CpuContext& ctx) {
  parallel_elements(ctx, args.x.count(), [&](Index first, Index count) {
    float* x = at<float>(args.x, first);
    if (is_half(args.y)) {
      ctx.simd->add_half(x, at<Bf16>(args.y, first), count);
    } else {
      ctx.simd->add(x, at<float>(args.y, first), count);
    }
  });
}

void fill_zero(const TensorView& x, CpuContext& ctx) {
  parallel_elements(ctx, x.count(), [&](Index first, Index count) {
    std::memset(at(x, first), 0, static_cast<std::size_t>(count) * size_of(x.dtype));
  });
}

void sum(const SumArgs& args, CpuContext& ctx) {
  *static_cast<double*>(args.total.data) +=
      sum_blocks(args.x, ctx, args.squares ? ctx.simd->sum_of_squares : ctx.simd->sum);
}

}  // namespace bam::cpu
