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

struct SimdKernels {
  int lanes;  // floats in a vector

  // y = x in the other type, n elements; narrowing rounds to nearest even, NaN stays NaN. x and y do not overlap.
  void (*widen)(const Bf16* x, float* y, Index n);
  void (*narrow)(const float* x, Bf16* y, Index n);

  // y = e^x and 2^x by element: vec.h's functions in the open, for the tests.
  void (*exp)(const float* x, float* y, Index n);
  void (*exp2)(const float* x, float* y, Index n);
};

}  // namespace bam::cpu
