// Which ids of a sequence a perplexity reads together, and which it scores.
#pragma once

#include <optional>
#include <vector>

#include "base/types.h"

namespace bam::eval {

// Ids [begin, end) of the sequence; all but the last are read, and [first_scored, end) are scored.
struct TokenWindow {
  Index begin = 0;
  Index first_scored = 0;
  Index end = 0;
  friend bool operator==(const TokenWindow&, const TokenWindow&) = default;
};

// Where windows lie.
//   by position (stride 0)  as in training: `context` ids are read and as many scored, and each window goes on where
//                           the last one ended. What does not fill a window is left out, so that all bins average over
//                           the same windows.
//   sliding (stride > 0)    a window is `context` ids, begins `stride` ids behind the last one, and scores what no
//                           earlier window has: every id but the first is scored once, with at least context - stride
//                           ids before it. With stride = context a window's first id would have nothing before it, so
//                           that the id before the window is read too.
struct WindowRule {
  Index context = 0;  // at least 2
  Index stride = 0;   // at most context

  bool slides() const { return stride > 0; }

  TokenWindow at(Index number) const;  // of an endless sequence
  // Of a sequence of `tokens` ids: cut at its end; none where nothing is left to score.
  std::optional<TokenWindow> at(Index number, Index tokens) const;
};

std::vector<TokenWindow> windows_of(const WindowRule& rule, Index tokens);

}  // namespace bam::eval
