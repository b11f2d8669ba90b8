#include "io/frame_compressor.h"

#include <zstd.h>

#include "base/error.h"

namespace bam::io {
namespace {

struct Context {
  Context() : zstd(ZSTD_createCCtx()) {}
  ~Context() { ZSTD_freeCCtx(zstd); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ZSTD_CCtx* zstd;
};

// Returns zstd's complaint, empty when it worked.
std::string compress(Context& context, int level, const std::string& content, std::string& compressed) {
  if (context.zstd == nullptr) return "out of memory";
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    return ZSTD_CCtx_setParameter(context.zstd, parameter, value);
  };
  for (const std::size_t status : {set(ZSTD_c_compressionLevel, level), set(ZSTD_c_checksumFlag, 1)}) {
    if (ZSTD_isError(status)) return ZSTD_getErrorName(status);
  }
  compressed.resize(ZSTD_compressBound(content.size()));
  const std::size_t size =
      ZSTD_compress2(context.zstd, compressed.data(), compressed.size(), content.data(), content.size());
  if (ZSTD_isError(size)) return ZSTD_getErrorName(size);
  compressed.resize(size);
  return "";
}

}  // namespace

FrameCompressor::FrameCompressor(int level, int threads)
    : level_(level), limit_(2 * static_cast<std::size_t>(threads)) {
  for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

FrameCompressor::~FrameCompressor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  submitted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void FrameCompressor::submit(std::string content) {
  auto job = std::make_unique<Job>();
  job->frame.content = std::move(content);
  const std::lock_guard lock(mutex_);
  waiting_.push_back(job.get());
  frames_.push_back(std::move(job));
  submitted_.notify_one();
}

bool FrameCompressor::is_full() const {
  return frames_.size() >= limit_;
}

void FrameCompressor::work() {
  Context context;
  for (;;) {
    std::unique_lock lock(mutex_);
    submitted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Job* job = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    std::string error = compress(context, level_, job->frame.content, job->frame.compressed);
    lock.lock();
    job->error = std::move(error);
    job->done = true;
    finished_.notify_all();
  }
}

FrameCompressor::Frame FrameCompressor::take() {
  {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] { return frames_.front()->done; });
  }
  const std::unique_ptr<Job> job = std::move(frames_.front());
  frames_.pop_front();
  if (!job->error.empty()) throw Error("cannot compress: " + job->error);
  return std::move(job->frame);
}

}  // namespace bam::io
