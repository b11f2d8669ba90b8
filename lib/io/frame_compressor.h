// Compresses independent frames on several threads and hands them back in order. For use inside this box.
#pragma once

#include <string>

#include "base/ordered_workers.h"

namespace bam::io {

struct CompressedFrame {
  std::string content;     // as submitted
  std::string compressed;  // one zstd frame with content size and checksum
};

class FrameCompressor : public OrderedWorkers<std::string, CompressedFrame> {
 public:
  FrameCompressor(int level, int threads);
};

}  // namespace bam::io
