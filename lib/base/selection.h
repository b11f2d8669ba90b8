// Selection - some of the places 0 ... n - 1 of something whose size is known only later, as one writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace bam {

// Places from `first` to `last`, both included, every step-th; below 0 they are counted from the end, -1 is the last.
struct PlaceRange {
  Index first = 0;
  Index last = -1;
  Index step = 1;

  bool operator==(const PlaceRange&) const = default;
};

using Selection = std::vector<PlaceRange>;

// "all", "3", "-1", "0..15", "-64..-1", "0..-1/16". Throws UsageError.
PlaceRange parse_places(std::string_view text);
std::string format_places(const PlaceRange& places);

// In order, each once. Throws UsageError "SUBJECT: 9 is not there, expected ... of 8 WHAT" for a place that does not
// exist.
std::vector<Index> chosen_places(const Selection& selection, Index size, const std::string& subject,
                                 const std::string& what);

}  // namespace bam
