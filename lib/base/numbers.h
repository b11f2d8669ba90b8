// Numbers as text: checked both ways, and independent of the locale.
// Every parser takes the whole text or throws UsageError with one line that says what was expected; the caller puts
// the name of the option or the file before it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/types.h"

namespace bam {

// Both ends belong to the range.
struct IntegerRange {
  Index low = std::numeric_limits<Index>::min();
  Index high = std::numeric_limits<Index>::max();
};

struct RealRange {
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  bool low_excluded = false;
  bool high_excluded = false;
};

// A whole number: 512, -3, 32k (1000), 64Ki (1024), 1.5M, 2Gi, 1e6. A fraction is taken where the result is exactly
// whole.
Index parse_integer(std::string_view text, IntegerRange range = {});

// As parse_integer, with an optional B behind it: 4Gi, 4GiB, 500MB.
Index parse_bytes(std::string_view text, IntegerRange range = {0});

// A real number: 0.1, -2, 1e-3. Not nan, not inf, nothing that a double can hold only as 0 or as infinity.
double parse_real(std::string_view text, RealRange range = {});

// A seed: as parse_integer, from 0, and in plain digits up to 2^64 - 1.
std::uint64_t parse_seed(std::string_view text);

// A number of tokens, or a multiple of the training context, which is known only once the model is open.
struct Length {
  Index number = 0;
  bool in_contexts = false;

  // Throws UsageError where the product does not fit.
  Index tokens(Index training_context) const;
  bool operator==(const Length&) const = default;
};

// As parse_integer, or N followed by x: 512, 32k, 64x. N is at least `low`.
Length parse_length(std::string_view text, Index low = 1);

// The shortest text that parse_real reads back as the same double: "0.1", "1e-08", "3"; "nan", "inf", "-inf".
std::string format_real(double value);
std::string format_length(const Length& length);
// The shortest text that parse_bytes reads back: "4Gi", "1000".
std::string format_bytes(Index bytes);

// For people, three figures: 999, 1.23k, 45.6M, 7.89G, 12.3T.
std::string human_count(double count);
// 512 B, 1.50 KiB, 2.00 GiB.
std::string human_bytes(double bytes);
// 12s, 3m05s, 2h07m, 4d03h.
std::string human_seconds(double seconds);

}  // namespace bam
