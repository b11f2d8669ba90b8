// prior - positional priors as tables by distance. b depends on query minus key alone, so a table of S entries per head
// replaces every power in the attention loops (a Toeplitz bias).
#pragma once

#include <span>

#include "kernels/tensor.h"

namespace bam {

// x below this is not told from it; keeps x^shape and ln x finite at distance mu.
inline constexpr double kPriorFloor = 1e-5;
// b is clamped here: with the floor, x^shape overflows float32 for shape below about -7.6.
inline constexpr double kPriorLowest = -1e30;

// table[h,n] = b of a key n tokens back: b = -exp(scale) x^shape, x = |-n - 2 sinh(loc)| + kPriorFloor, at least
// kPriorLowest. In the paper's terms (arXiv 2505.22842): beta = shape, mu = 2 sinh(loc), alpha = exp(-scale / shape).
// shapes    shape, scale, loc [H], table [H,S]; real
// numerics  evaluated in double, rounded once
struct PriorTableArgs {
  ConstTensorView shape;
  ConstTensorView scale;
  ConstTensorView loc;
  TensorView table;
};

// Gradients by the chain rule from dtable[h,n] = dLoss/db:
//   db/dscale = b    db/dshape = b ln x    db/dloc = -b shape / x * sign(-n - mu) * 2 cosh(loc), sign = 0 within 1e-4
//   of mu
// and all of them 0 where b is clamped. dshape, dscale, dloc [H] are added to; an empty one is frozen and skipped.
// shapes    as PriorTableArgs, dtable [H,S]; real; sums in double, in order of n
struct PriorBackwardArgs {
  ConstTensorView shape;
  ConstTensorView scale;
  ConstTensorView loc;
  ConstTensorView dtable;
  TensorView dshape;
  TensorView dscale;
  TensorView dloc;
};

// ALiBi (Press et al. 2022, arXiv 2108.12409): table[h,n] = -slopes[h] n.
// shapes    slopes: H values on the host; table [H,S] real
struct AlibiTableArgs {
  std::span<const double> slopes;
  TensorView table;
};

}  // namespace bam
