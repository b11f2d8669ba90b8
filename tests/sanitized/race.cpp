// Two threads add to the same numbers. ThreadSanitizer must tell of it: then it sees what the kernels read and write,
// and a test in which it tells of nothing has shown something.
#include <thread>
#include <vector>

#include "kernels/registry.h"

int main() {
  std::vector<float> sum(1 << 12), one(sum.size(), 1.0F);
  const bam::Shape shape{static_cast<bam::Index>(sum.size())};
  const auto add = [&] {
    const auto backend = bam::make_backend("cpu", 1);
    for (int i = 0; i < 100; ++i)
      backend->add({{sum.data(), bam::DType::f32, shape}, {one.data(), bam::DType::f32, shape}});
  };
  std::thread other(add);
  add();
  other.join();
}
