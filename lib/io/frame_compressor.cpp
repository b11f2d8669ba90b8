#include "io/frame_compressor.h"

#include <zstd.h>

#include <memory>
#include <utility>

#include "base/error.h"

namespace bam::io {
namespace {

std::size_t checked(std::size_t status) {
  if (ZSTD_isError(status)) throw Error(std::string("cannot compress: ") + ZSTD_getErrorName(status));
  return status;
}

class Compressor {
 public:
  explicit Compressor(int level) : level_(level), zstd_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  CompressedFrame operator()(std::string&& content) const {
    if (!zstd_) throw Error("cannot compress: out of memory");
    checked(ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, level_));
    checked(ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 1));
    std::string compressed(ZSTD_compressBound(content.size()), '\0');
    compressed.resize(
        checked(ZSTD_compress2(zstd_.get(), compressed.data(), compressed.size(), content.data(), content.size())));
    return {std::move(content), std::move(compressed)};
  }

 private:
  int level_;
  std::shared_ptr<ZSTD_CCtx> zstd_;
};

}  // namespace

FrameCompressor::FrameCompressor(int level, int threads)
    : OrderedWorkers(threads, [level] { return Compressor(level); }) {}

}  // namespace bam::io
