#include "eval/windows.h"

#include <algorithm>

namespace bam::eval {

TokenWindow WindowRule::at(Index number) const {
  if (!slides()) {
    const Index begin = number * context;
    return {begin, begin + 1, begin + context + 1};
  }
  const Index begin = number * stride;
  const Index first_scored = number == 0 ? 1 : begin - stride + context;
  return {std::min(begin, first_scored - 1), first_scored, begin + context};
}

std::optional<TokenWindow> WindowRule::at(Index number, Index tokens) const {
  TokenWindow window = at(number);
  if (window.end > tokens && !slides()) return std::nullopt;
  window.end = std::min(window.end, tokens);
  if (window.first_scored >= window.end) return std::nullopt;
  return window;
}

std::vector<TokenWindow> windows_of(const WindowRule& rule, Index tokens) {
  std::vector<TokenWindow> windows;
  while (const auto window = rule.at(static_cast<Index>(windows.size()), tokens)) windows.push_back(*window);
  return windows;
}

}  // namespace bam::eval
