#include "kernels/ops/rotary.h"

#include "kernels/cuda/block.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

// In double as kernels/ops/rotary.h asks: positions of half a million keep all their bits.
BAM_KERNEL void table_kernel(const double* inverse_frequency, Index pairs, Index first_position, double magnitude,
                             Index rows, float* table) {
  const Index i = grid_index();
  if (i >= rows * pairs) return;
  const double angle = static_cast<double>(first_position + i / pairs) * inverse_frequency[i % pairs];
  table[2 * i] = static_cast<float>(magnitude * cos(angle));
  table[2 * i + 1] = static_cast<float>(magnitude * sin(angle));
}

// A thread a pair of x [B, T, H, d].
template <typename T>
BAM_KERNEL void rotate_kernel(T* x, const float* table, Index length, Index heads, Index half_dim, Index pairs,
                              bool inverse) {
  const Index i = grid_index();
  if (i >= pairs) return;
  const Index position = i / half_dim / heads % length;
  const float* const angle = table + (position * half_dim + i % half_dim) * 2;
  const float cosine = angle[0];
  const float sine = inverse ? -angle[1] : angle[1];
  const float even = as_float(x[2 * i]);
  const float odd = as_float(x[2 * i + 1]);
  store_as(x[2 * i], even * cosine - odd * sine);
  store_as(x[2 * i + 1], even * sine + odd * cosine);
}

template <typename T>
void rotate(const RotaryArgs& args, void* stream) {
  const Index pairs = args.x.count() / 2;
  if (pairs == 0) return;
  launch(&rotate_kernel<T>, {blocks_of(pairs, kBlockThreads), 1, 1}, kBlockThreads, 0, stream, data_of<T>(args.x),
         data_of<float>(args.table), args.x.shape[1], args.x.shape[2], args.x.shape[3] / 2, pairs, args.inverse);
}

}  // namespace

void rotary_table(const RotaryTableArgs& args, const double* inverse_frequency, const Context& ctx) {
  const auto pairs = static_cast<Index>(args.inverse_frequency.size());
  const Index count = args.table.shape[0] * pairs;
  if (count == 0) return;
  launch(&table_kernel, {blocks_of(count, kBlockThreads), 1, 1}, kBlockThreads, 0, ctx.stream, inverse_frequency, pairs,
         args.first_position, args.magnitude, args.table.shape[0], data_of<float>(args.table));
}

void rotary(const RotaryArgs& args, const Context& ctx) {
  if (is_half(args.x)) return rotate<Bf16>(args, ctx.stream);
  rotate<float>(args, ctx.stream);
}

}  // namespace bam::cuda
