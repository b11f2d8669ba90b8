// Text as Python's str sees it: what the definitions of published benchmarks lean on. All text is UTF-8; a byte that is
// not counts as a character of its own and is kept.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace bam::eval {

Index characters(std::string_view text);  // len()

std::string_view strip(std::string_view text);
std::string_view strip_end(std::string_view text);  // rstrip()

// re.split(r"\s+", text): a blank at an end gives an empty piece there, and an empty text is one empty piece.
std::vector<std::string_view> split_blanks(std::string_view text);

// lower(), but for the two forms of the small sigma.
std::string lower(std::string_view text);
// capitalize(): the first character large, all others small.
std::string capitalize(std::string_view text);

std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// "{name}" in the pattern replaced by what belongs to the name, once: braces in the values are left alone. Names that
// are not given stay.
std::string fill(std::string_view pattern, const std::vector<std::pair<std::string_view, std::string_view>>& values);

// json.dumps() of a string: all ASCII.
std::string ascii_json(std::string_view text);

}  // namespace bam::eval
