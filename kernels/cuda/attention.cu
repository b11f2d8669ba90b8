// Which kernels take a call of attention.
#include <algorithm>
#include <iterator>

#include "kernels/cuda/attention_plain.h"
#include "kernels/cuda/attention_skip.h"

namespace bam::cuda {
namespace {

bool is_decode(const AttentionInputs& in) {
  return in.queries <= tensor::kDecodeQueries;
}

}  // namespace

bool takes_tensor_cores(const AttentionInputs& in) {
  constexpr Index kDims[] = {16, 32, 48, 64, 128};
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  return in.bf16 && aligned(in.q) && aligned(in.k) && aligned(in.v) &&
         std::find(std::begin(kDims), std::end(kDims), in.dim) != std::end(kDims);
}

void check_inputs(const AttentionInputs& in) {
  constexpr Index kMostKeys = kNoKey - 1024;
  constexpr Index kMostBlocks = 65535;
  if (in.dim > kMostHeadDim) {
    throw Error("cuda: no attention for heads of " + std::to_string(in.dim) + ", expected at most " +
                std::to_string(kMostHeadDim));
  }
  if (in.keys > kMostKeys || in.heads > kMostBlocks || in.batch > kMostBlocks) {
    throw Error("cuda: attention over " + std::to_string(in.keys) + " keys, " + std::to_string(in.heads) + " heads, " +
                std::to_string(in.batch) + " sequences, expected at most " + std::to_string(kMostKeys) + ", " +
                std::to_string(kMostBlocks) + ", " + std::to_string(kMostBlocks));
  }
}

std::size_t attention_forward_scratch(const AttentionForward& args) {
  return !takes_tensor_cores(args.in) ? plain::forward_scratch(args)
         : is_decode(args.in)         ? tensor::decode_scratch(args)
                                      : tensor::forward_scratch(args);
}

void attention_forward(const AttentionForward& args, void* stream) {
  const AttentionInputs& in = args.in;
  check_inputs(in);
  if (in.heads == 0) return;
  if (in.queries == 0 || in.batch == 0) {
    if (args.skipped != nullptr) tensor::store_shares({args, {}}, 0, stream);
  } else if (!takes_tensor_cores(in)) {
    plain::forward(args, stream);
  } else if (is_decode(in)) {
    tensor::decode(args, stream);
  } else {
    tensor::forward(args, stream);
  }
}

}  // namespace bam::cuda
