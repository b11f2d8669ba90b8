#pragma once

#include <cstdint>

namespace bam {

// Every count, length and offset. 64 bits, because S x V and S x S pass 2^31 at the lengths this project is for.
using Index = std::int64_t;

}  // namespace bam
