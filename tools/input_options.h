// What tools that read documents have in common.
#pragma once

#include "cli/run_tool.h"
#include "text/documents.h"

namespace bam {

// Only JSON lines have fields; with auto the content may be such.
inline cli::Idle idle_field(const text::InputOptions& input) {
  return {.applies = input.format == text::InputFormat::text || input.format == text::InputFormat::lines,
          .why = input.format == text::InputFormat::text ? "with --input text" : "with --input lines",
          .options = {"field"},
          .groups = {}};
}

}  // namespace bam
