#include "io/json_lines.h"

namespace bam::io {

std::string json_lines(std::string_view object) {
  std::string out;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    if (in_text) {
      out += c;
      if (c == '\\') out += object[++i];
      in_text = c != '"';
      continue;
    }
    if (c == '}' || c == ']') --depth;
    if (c == '}' && depth == 0) out += '\n';
    out += c;
    in_text = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (depth == 1 && (c == ',' || c == '{')) out += "\n  ";
    if (c == ':' || (c == ',' && depth > 1)) out += ' ';
  }
  return out + "\n";
}

}  // namespace bam::io
