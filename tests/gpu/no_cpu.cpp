// The registry's door to the cpu backend, in a build that has none.
#include "base/error.h"
#include "kernels/cpu/cpu_backend.h"

namespace bam::cpu {

std::string describe_machine() {
  return "not part of this build";
}

std::unique_ptr<Backend> make_cpu_backend(int) {
  throw Error("--device cpu: not part of this build");
}

}  // namespace bam::cpu
