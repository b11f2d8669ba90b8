// The mark of the byte order that some editors put in front of a text.
#pragma once

#include <string_view>

namespace bam {

inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace bam
