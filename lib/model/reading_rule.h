// ReadingRule - how an evaluation departs from the way a model was trained: what it may leave out, how far queries see,
// and how rotary angles are stretched for texts beyond the training context.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace bam {

// none    as trained
// linear  positions divided by the factor: position interpolation (Chen et al. 2023, arXiv 2306.15595)
// ntk     theta times factor^(d / (d - 2)): the slowest pair is stretched by the factor, the fastest not at all
// yarn    pairs that turn more than 32 times within the training context stay, those that turn less than once are
//         interpolated, a linear ramp over the pairs between; queries and keys times 0.1 ln(factor) + 1 (Peng et al.
//         2023, arXiv 2309.00071, the ramp as in its authors' code)
struct RopeScaling {
  enum class Kind : std::uint8_t { none, linear, ntk, yarn };
  Kind kind = Kind::none;
  double factor = 1;  // at least 1
};

// "none", "linear:4", "ntk:8", "yarn:8.5". Throws UsageError.
RopeScaling parse_rope_scaling(std::string_view text);
std::string format_rope_scaling(const RopeScaling& scaling);

struct ReadingRule {
  double skip_eps = 0;  // AttentionForwardArgs::skip_eps
  Index window = 0;     // keys that a query may see, itself included; 0 = all before it
  RopeScaling rope_scaling = {};
};

// For the rows of a table: "eps=1e-06", "eps=0,window=512", "eps=1e-06,rope-scaling=yarn:8".
std::string format_reading(const ReadingRule& rule);

// Throws UsageError for what the model cannot do, naming the option.
void check_reading(const ReadingRule& rule, const ModelConfig& config);

struct RotaryFrequencies {
  std::vector<double> inverse;  // of each pair, radians per position
  double magnitude = 1;         // of the table's entries
};
RotaryFrequencies rotary_frequencies(const ModelConfig& config, const RopeScaling& scaling);

}  // namespace bam
