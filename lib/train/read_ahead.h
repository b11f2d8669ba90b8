// Batches that a thread of its own reads ahead, so that no step waits for disk and decompression.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/windows.h"

namespace bam::train {

struct ReadBatch {
  Batch batch;              // with fewer windows than asked for where a stream ends, or with none
  Index consumed = 0;       // of the source, once this batch was taken from it
  std::string fingerprint;  // likewise
  std::vector<std::string> digests;
};

class ReadAhead {
 public:
  // Takes no more than `batches` batches of `windows` windows out of the source, which nobody else may do meanwhile;
  // up to two of them wait. The caller's thread may go on using what of the source never changes.
  ReadAhead(std::shared_ptr<WindowSource> source, Index windows, Index batches, const Targets& targets);
  // A thread that is held by a silent pipe is left to itself.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next batch; none when give_up() says so, which is asked while there is nothing but to wait. Throws what reading
  // threw, in the place of the batch that could not be read.
  std::optional<ReadBatch> next(const std::function<bool()>& give_up);

  double waited_s() const { return waited_s_; }  // in next()

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  double waited_s_ = 0;
};

}  // namespace bam::train
