// One text out of a line of JSON, and the check that all of the line is JSON (RFC 8259).
#pragma once

#include <string>
#include <string_view>

namespace bam::text {

// What a line is of which nothing better can be said.
inline constexpr const char* kNotJson = "not valid JSON";

// Sets `text` to the string that is the member `field` of the object `json`, inside `json`, where its escapes are
// undone: so no more memory is needed than the line takes. Returns an empty string; or what is wrong, on one line: not
// JSON as a whole, no such member, twice there, not a string, half of a surrogate pair. Numbers may have any size.
std::string take_json_text(std::string& json, std::string_view field, std::string_view& text);

}  // namespace bam::text
