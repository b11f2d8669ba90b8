// Compresses independent frames on several threads and hands them back in order. For use inside this box.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace bam::io {

class FrameCompressor {
 public:
  struct Frame {
    std::string content;     // as submitted
    std::string compressed;  // one zstd frame with content size and checksum
  };

  FrameCompressor(int level, int threads);
  ~FrameCompressor();
  FrameCompressor(const FrameCompressor&) = delete;
  FrameCompressor& operator=(const FrameCompressor&) = delete;

  void submit(std::string content);

  // True when so many frames are under way that the caller should take one before it submits the next.
  bool is_full() const;
  bool is_empty() const { return frames_.empty(); }

  // The oldest frame, waiting for it. Not when empty.
  Frame take();

 private:
  struct Job {
    Frame frame;
    std::string error;
    bool done = false;
  };

  void work();

  int level_;
  std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable finished_;
  std::deque<std::unique_ptr<Job>> frames_;  // in order; only the caller adds and removes
  std::deque<Job*> waiting_;                 // not yet begun
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace bam::io
