// boxes: io base
// safetensors files: refused with an Error, or every tensor lies in the file and is read.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "io/safetensors.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bam::test::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const bam::io::SafetensorsFile tensors(file.path());
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
  return 0;
}
