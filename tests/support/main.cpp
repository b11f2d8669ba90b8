// main of every Catch2 test program: as Catch2's own, but a program that only skipped returns kSkippedStatus.
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

#include <cstdio>

namespace bam::test {
namespace {
int skipped_cases = 0;
}

void skip(const std::string& reason) {
  ++skipped_cases;
  std::fprintf(stderr, "skipped: %s\n", reason.c_str());
  SUCCEED("skipped: " + reason);
}

int skipped_count() {
  return skipped_cases;
}

}  // namespace bam::test

int main(int argc, char** argv) {
  Catch::Session session;
  const int parse_status = session.applyCommandLine(argc, argv);
  if (parse_status != 0) return parse_status;
  session.configData().warnings = Catch::WarnAbout::NoTests;
  const int failed = session.run();
  if (failed != 0) return 1;
  return bam::test::skipped_count() > 0 ? bam::test::kSkippedStatus : 0;
}
