#pragma once

#include <string>

namespace bam::cli {

// "0.1.0 (1a2b3c4)"; without the commit where the build knew none.
std::string version();

// What --version prints: tool and version, then a line for each backend with what it runs on.
std::string version_text(const std::string& tool);

}  // namespace bam::cli
