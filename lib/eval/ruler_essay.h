#pragma once

#include <string_view>

namespace bam::eval {

// The beginning of "Moby-Dick" by Herman Melville (1851), in the public domain: what RULER's essays are replaced by
// where the user gives no text. Line breaks stand for blanks.
extern const std::string_view kEssay;

}  // namespace bam::eval
