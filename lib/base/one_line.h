// What is shown to people as one line.
#pragma once

#include <string>

namespace bam {

// The text with its control characters as blanks or question marks: whatever a file name or a library put into it.
inline std::string one_line(std::string text) {
  for (char& c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (is_control) c = c == '\n' || c == '\t' ? ' ' : '?';
  }
  return text;
}

}  // namespace bam
