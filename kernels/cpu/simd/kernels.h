// The functions that exist once per instruction set, as one table of pointers; ../isa.h picks the table at run time.
//
// Every .cpp of this folder is compiled once per instruction set, with BAM_ISA naming it and its code inside namespace
// bam::cpu::BAM_ISA (see ../../CMakeLists.txt). What such a file may include is narrow: this header, its neighbours
// here, <cstdint>, <cstddef>, <math.h> and intrinsics. Any other inline function or template (std::max, Shape::count)
// could be emitted as a weak symbol with AVX-512 instructions, and the linker is free to keep that copy for the whole
// program: an illegal instruction on an older CPU, far from here. tests/lint/simd_symbols.sh looks for such symbols.
// So tables take plain pointers and plain structs, and their callers unpack the tensor views.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace bam::cpu {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

using Bf16 = std::uint16_t;  // the upper half of a float's bits

// Rows [0, rows) of what kernels/ops/norm.h defines. y or dy holds bf16 when half is set, floats otherwise.
struct RmsnormForwardRows {
  const float* x;
  const float* weight;
  float eps;
  Index rows, dim;
  void* y;
  bool half;
  float* rstd;
};

struct RmsnormBackwardRows {
  const float* x;
  const float* weight;
  const float* rstd;
  const void* dy;
  bool half;
  Index rows, dim;
  float* dx;
  float* dweight;  // added to
};

// As kernels/ops/mlp.h; n elements of every tensor, all bf16 when half is set.
struct SwigluForwardRange {
  const void* gate;
  const void* up;
  void* out;
  bool half;
  Index n;
};

struct SwigluBackwardRange {
  const void* gate;
  const void* up;
  const void* dout;
  void* dgate;
  void* dup;
  void* out;
  bool half;
  Index n;
};

// One row of kernels/ops/loss.h with 0 <= target < vocab. dlogits may be null, or logits itself.
struct CrossEntropyRow {
  const float* logits;
  Index vocab;
  Index target;
  float grad_scale;
  void* dlogits;
  bool half;  // dlogits is bf16
};

struct CrossEntropyResult {
  float nll;
  bool hit;
};

// One step of kernels/ops/optimizer.h with everything that depends on the step alone worked out beforehand:
//   g = grad_scale grad;  m = beta1 m + rest1 g;  v = beta2 v + rest2 g^2;
//   param = decay param - rate m / (root_scale sqrt(v) + floor); with root_scale 0 v is not looked at
struct OptimizerRange {
  float* param;
  const float* grad;
  float* m;
  float* v;
  Index n;
  float grad_scale, beta1, rest1, beta2, rest2, decay, rate, root_scale, floor;
};

// heads x dim values at one position, rotated in place by table [dim/2,2].
struct RotaryHeads {
  void* x;
  bool half;
  const float* table;
  bool inverse;
  Index heads, dim;
};

struct AttentionKernels;

struct SimdKernels {
  int lanes;  // floats in a vector

  // y = x in the other type, n elements; narrowing rounds to nearest even, NaN stays NaN. x and y do not overlap.
  void (*widen)(const Bf16* x, float* y, Index n);
  void (*narrow)(const float* x, Bf16* y, Index n);

  void (*add)(float* x, const float* y, Index n);  // x += y
  void (*add_half)(float* x, const Bf16* y, Index n);
  double (*sum)(const float* x, Index n);  // in double
  double (*sum_of_squares)(const float* x, Index n);

  void (*rmsnorm_forward)(const RmsnormForwardRows& args);
  void (*rmsnorm_backward)(const RmsnormBackwardRows& args);
  void (*swiglu_forward)(const SwigluForwardRange& args);
  void (*swiglu_backward)(const SwigluBackwardRange& args);
  CrossEntropyResult (*cross_entropy)(const CrossEntropyRow& args);
  void (*optimizer_step)(const OptimizerRange& args);
  void (*rotary)(const RotaryHeads& args);

  // y = e^x and 2^x by element: vec.h's functions in the open, for the tests.
  void (*exp)(const float* x, float* y, Index n);
  void (*exp2)(const float* x, float* y, Index n);

  const AttentionKernels* attention;  // attention.h
};

}  // namespace bam::cpu
