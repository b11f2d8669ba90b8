#include "io/text_file.h"

#include "base/error.h"
#include "io/checkpoint.h"
#include "io/stream.h"

namespace bam::io {

std::string read_text(const std::string& path, Index limit) {
  const std::unique_ptr<ByteSource> source = open_decompressed(path);
  std::string text = read_all(*source, limit);
  if (looks_like_checkpoint(text)) throw Error(source->name() + ": a checkpoint, expected text");
  return text;
}

}  // namespace bam::io
