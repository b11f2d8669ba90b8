// Inputs of attention: every meaning its arguments can take, for the tests of both directions.
#pragma once

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/ops/attention.h"
#include "kernels/ops/prior.h"
#include "support/values.h"

namespace bam::test {

struct HeadPrior {
  double shape, scale, loc;
};

// The heads take these in turn; none at all is no prior.
struct PriorKind {
  const char* name;
  std::vector<HeadPrior> heads;
};
inline const PriorKind kNoPrior{"none", {}};
inline const PriorKind kAlibi{"alibi", {{1, std::log(0.5), 0}, {1, std::log(0.25), 0}, {1, std::log(0.0625), 0}}};
inline const PriorKind kSteep{
    "steep", {{-3, 0, 0}, {2.5, -3, 0}, {-0.9, 1, 0}, {0.5, -1, 0}, {0, 0.5, 0}, {-0.3, 0, 0}, {1.5, -2, 0}}};
inline const PriorKind kShifted{"shifted",
                                {{1, -1, 0.7}, {-1, 0, -1.5}, {2.5, -6, -1.2}, {0.5, 0, -3}, {-3, 0, -0.4812}}};
inline const PriorKind kOverflowing{"overflowing", {{-8, 0, 0}, {-7.7, 2, 0}, {-12, -1, 0}}};

enum class Documents { one, many, single, window };

struct AttentionCase {
  Index batch = 1, queries = 0, keys = 0, heads = 2, kv_heads = 2, dim = 8;
  Ssmax ssmax = Ssmax::off;
  PriorKind prior = kNoPrior;
  Documents documents = Documents::one;
};

inline std::ostream& operator<<(std::ostream& out, const AttentionCase& c) {
  const char* const ssmax[] = {"off", "content", "full"};
  const char* const documents[] = {"one", "many", "single", "window"};
  return out << "B " << c.batch << " T " << c.queries << " S " << c.keys << " H " << c.heads << " Hkv " << c.kv_heads
             << " d " << c.dim << " ssmax " << ssmax[static_cast<int>(c.ssmax)] << " prior " << c.prior.name
             << " documents " << documents[static_cast<int>(c.documents)];
}

struct AttentionValues {
  Values q, k, v, prior, first_key, ssmax_scale;
};

inline Values prior_values(const PriorKind& kind, Index heads, Index distances) {
  if (kind.heads.empty()) return {};
  Values table = filled({heads, distances}, 0);
  for (Index h = 0; h < heads; ++h) {
    const auto [shape, scale, loc] = kind.heads[static_cast<std::size_t>(h) % kind.heads.size()];
    for (Index n = 0; n < distances; ++n) {
      const double x = std::abs(-static_cast<double>(n) - 2 * std::sinh(loc)) + kPriorFloor;
      table[h * distances + n] = std::max(kPriorLowest, -std::exp(scale) * std::pow(x, shape));
    }
  }
  return table;
}

// Whether a backend's attention multiplies bf16 in tensor cores: what is summed there was rounded to bf16 before, and
// blocks of keys can be left out. The cpu multiplies in float, and leaves out blocks whatever the dtype.
inline bool in_tensor_cores(const std::string& device, DType dtype, Index dim) {
  return device == "cuda" && dtype == DType::bf16 && (dim == 16 || dim == 32 || dim == 48 || dim == 64 || dim == 128);
}
inline bool leaves_out(const std::string& device, DType dtype, Index dim) {
  return device != "cuda" || in_tensor_cores(device, dtype, dim);
}

// First keys of a batch of rows, each cut into documents of its own.
inline Values first_keys(const AttentionCase& c) {
  Values first = filled({c.batch, c.queries}, 0);
  Rng rng(11);
  for (Index b = 0; b < c.batch; ++b) {
    Index begin = 0;
    for (Index i = 0; i < c.keys; ++i) {
      // Most documents of length 1 to 3, now and then a long one.
      if (c.documents == Documents::many && rng.below(rng.below(4) == 0 ? 2 : 40) == 0) begin = i;
      if (c.documents == Documents::single) begin = i;
      if (c.documents == Documents::window) begin = std::max(Index{0}, i - 20);
      if (i >= c.keys - c.queries) first[b * c.queries + i - (c.keys - c.queries)] = static_cast<double>(begin);
    }
  }
  return first;
}

inline AttentionValues make_attention(const AttentionCase& c) {
  AttentionValues x;
  x.q = normal({c.batch, c.queries, c.heads, c.dim}, 1);
  x.k = normal({c.batch, c.keys, c.kv_heads, c.dim}, 2);
  x.v = normal({c.batch, c.keys, c.kv_heads, c.dim}, 3);
  x.prior = prior_values(c.prior, c.heads, c.keys + 3);
  x.first_key = first_keys(c);
  if (c.ssmax != Ssmax::off) {
    x.ssmax_scale = normal({c.heads}, 4, 0.3);
    for (double& each : x.ssmax_scale.at) each += 1;
    // A head that prefers what fits least; not with steep priors, which would lift one key above all rounding.
    if (c.prior.heads.empty()) x.ssmax_scale[0] = -0.7;
  }
  return x;
}

// The largest |logit| that decides a row: lse, over the rows with a choice of keys. What float knows about a row's
// probabilities is this times its roundoff.
inline double logit_size(const AttentionCase& c, const Values& first_key, const Values& lse) {
  double size = 1;
  for (Index b = 0; b < c.batch; ++b) {
    for (Index t = 0; t < c.queries; ++t) {
      const bool choice = first_key[b * c.queries + t] < static_cast<double>(c.keys - c.queries + t);
      for (Index h = 0; h < c.heads && choice; ++h) {
        size = std::max(size, std::abs(lse[(b * c.heads + h) * c.queries + t]));
      }
    }
  }
  return size;
}

}  // namespace bam::test
