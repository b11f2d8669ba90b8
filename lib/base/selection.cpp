#include "base/selection.h"

#include <set>

#include "base/error.h"
#include "base/numbers.h"

namespace bam {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kBetween = "..";

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError("'" + std::string(text) + "' is no place, expected all, N, N..M or N..M/STEP, -1 being the last");
}

Index whole(std::string_view part, std::string_view text) {
  try {
    return parse_integer(part);
  } catch (const UsageError&) {
    refuse(text);
  }
}

}  // namespace

PlaceRange parse_places(std::string_view text) {
  if (text == kAll) return {};
  PlaceRange places;
  std::string_view rest = text;
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    places.step = whole(rest.substr(slash + 1), text);
    rest = rest.substr(0, slash);
    if (places.step < 1 || rest.find(kBetween) == std::string_view::npos) refuse(text);
  }
  const std::size_t dots = rest.find(kBetween);
  places.first = whole(rest.substr(0, dots), text);
  places.last = dots == std::string_view::npos ? places.first : whole(rest.substr(dots + kBetween.size()), text);
  const bool same_end = (places.first < 0) == (places.last < 0);
  if (same_end && places.last < places.first) refuse(text);
  return places;
}

std::string format_places(const PlaceRange& places) {
  if (places == PlaceRange{}) return std::string(kAll);
  std::string text = std::to_string(places.first);
  if (places.first == places.last) return text;
  text.append(kBetween).append(std::to_string(places.last));
  return places.step == 1 ? text : text.append("/").append(std::to_string(places.step));
}

std::vector<Index> chosen_places(const Selection& selection, Index size, const std::string& subject,
                                 const std::string& what) {
  std::set<Index> chosen;
  for (const PlaceRange& places : selection) {
    const auto from_front = [&](Index place) {
      if (place < -size || place >= size) {
        throw UsageError(subject + ": " + std::to_string(place) + " is not there, expected " + std::to_string(-size) +
                         " to " + std::to_string(size - 1) + ", of " + std::to_string(size) + " " + what);
      }
      return place < 0 ? place + size : place;
    };
    const Index first = from_front(places.first);
    const Index last = from_front(places.last);
    if (last < first) {
      throw UsageError(subject + ": " + format_places(places) + " is nothing of " + std::to_string(size) + " " + what);
    }
    for (Index place = first; place <= last; place += places.step) chosen.insert(place);
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace bam
