// A running number that tells one input from another, many times as fast as a cryptographic digest. No secret is in it:
// whoever wants to can make two inputs that have the same.
#pragma once

#include <string_view>

#include "base/types.h"

namespace bam {

// Of what `before` is the fingerprint of (0 for nothing), and then of these bytes and their number: parts of other
// sizes give another one. At least 0 and below 2^61.
Index fingerprint(std::string_view bytes, Index before);

}  // namespace bam
