#include "gpu/catch.h"

int main(int argc, char** argv) {
  return bam::test::own::run(argc, argv);
}
