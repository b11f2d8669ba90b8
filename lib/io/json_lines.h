// JSON for people.
#pragma once

#include <string>
#include <string_view>

namespace bam::io {

// One object of a JsonWriter with each of its members on a line of its own; members within those stay on theirs.
std::string json_lines(std::string_view object);

}  // namespace bam::io
