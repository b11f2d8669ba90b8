// Windows of training data: context + 1 ids, one after every context ids, so that each id but the first is a target
// once. They come from shard files in a seeded permutation over all of them, or from a stream in order, mixed inside a
// bounded buffer. What has been handed out is known by a count, which is all that a resume needs.
#pragma once

#include <memory>

#include "base/rng.h"
#include "io/sha256.h"
#include "model/batch.h"
#include "model/config.h"
#include "train/token_files.h"

namespace bam::train {

enum class Order : std::uint8_t { global, stream };

const NameTable<Order>& order_names();

class WindowSource {
 public:
  virtual ~WindowSource() = default;

  virtual Order order() const = 0;
  virtual const io::ShardHeader& header() const = 0;
  virtual const std::vector<io::TokenizerFile>& tokenizer_files() const = 0;
  virtual std::string name() const = 0;                  // for messages
  virtual Index windows_per_epoch() const = 0;           // 0 = not known
  virtual std::vector<std::string> digests() const = 0;  // of the shards; of a stream, of those read to their end

  // As many windows as `ids` has room for, one behind the other; fewer only when a stream ends. Returns their number.
  Index next(std::span<Token> ids);

  Index context() const { return context_; }
  Index consumed() const { return consumed_; }  // windows handed out so far

  // Identifies the data: of files, their digests; of a stream, every id read so far.
  virtual std::string fingerprint() const = 0;

  // Goes on where a source of the same data was after `consumed` windows: a stream is read again up to there. To be
  // called before next(). Throws Error when the data is not the same.
  void resume(Index consumed, const std::string& fingerprint);

 protected:
  explicit WindowSource(Index context) : context_(context) {}
  Index window_size() const { return context_ + 1; }
  virtual bool take(std::span<Token> window) = 0;  // the next one; false at the end
  virtual void skip(Index windows) = 0;            // Error when there are fewer
  Index consumed_ = 0;

 private:
  Index context_;
};

// Files, without end: epoch after epoch, each in an order of its own. Throws Error when they hold no whole window.
std::unique_ptr<WindowSource> open_file_windows(const std::vector<std::string>& paths, Index context,
                                                std::uint64_t seed);

// Files and pipes, each read once from front to back. The first header is read at once, the headers of files too.
// Up to 8192 windows, but no more than 4 Mi ids, wait in the buffer, from which each next window is drawn.
std::unique_ptr<WindowSource> open_stream_windows(const std::vector<std::string>& paths, Index context,
                                                  std::uint64_t seed);

struct Targets {
  std::int32_t bos_id = 0;
  bool across_borders = true;  // score the prediction of a document's BOS from the document before it
};

// `ids` are whole windows of context + 1.
Batch make_batch(std::span<const Token> ids, Index context, const Targets& targets);

// Windows of `batch` from `first`.
Batch slice(const Batch& batch, Index first, Index windows);

// All targets of a sequence, in order: the last window is filled up with targets that are not scored.
class ValidationWindows {
 public:
  ValidationWindows(TokenFiles& tokens, Index context, const Targets& targets);
  Index windows() const { return windows_; }
  Batch batch(Index first, Index windows) const;

 private:
  TokenFiles& tokens_;
  Index context_;
  Targets targets_;
  Index windows_;
};

}  // namespace bam::train
