#include "cli/version.h"

#include "kernels/registry.h"
#include "version_info.h"

namespace bam::cli {

std::string version() {
  const std::string commit = kCommit;
  return commit.empty() ? kVersion : std::string(kVersion) + " (" + commit + ")";
}

std::string version_text(const std::string& tool) {
  std::string text = tool + " " + version() + "\n";
  for (const BackendInfo& backend : list_backends()) {
    text += "backend " + backend.name + ": " + (backend.available ? "" : "not available: ") + backend.detail + "\n";
  }
  return text;
}

}  // namespace bam::cli
