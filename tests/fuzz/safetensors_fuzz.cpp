// boxes: io base
// safetensors files: refused with an Error, or every tensor lies in the file and is read.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<char, 32> path{"/tmp/bam-fuzz-XXXXXX"};
  const int file = mkstemp(path.data());
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) abort();
  close(file);
  try {
    const bam::io::SafetensorsFile tensors(path.data());
    bam::Index covered = 0;
    for (const bam::io::StoredTensor& tensor : tensors.tensors()) {
      if (tensor.offset != covered) abort();
      covered += tensor.bytes;
      if (tensor.type == bam::io::TensorType::other) continue;
      std::vector<float> values(static_cast<std::size_t>(tensor.count()));
      tensors.read(tensor, values);
    }
    if (covered > static_cast<bam::Index>(size)) abort();
  } catch (const bam::Error&) {
  }
  unlink(path.data());
  return 0;
}
