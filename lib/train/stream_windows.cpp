#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "io/pipe.h"
#include "io/stream.h"
#include "train/windows.h"

namespace bam::train {
namespace {

constexpr Index kBufferWindows = 8192;
constexpr Index kBufferIds = Index{4} << 20;
constexpr std::uint64_t kShuffleStream = 0x73687566;

class StreamWindows : public WindowSource {
 public:
  StreamWindows(std::vector<std::string> paths, Index context, std::uint64_t seed)
      : WindowSource(context),
        paths_(std::move(paths)),
        rng_(seed, kShuffleStream),
        buffer_windows_(std::clamp<Index>(kBufferIds / (context + 1), 1, kBufferWindows)) {
    if (paths_.empty()) throw Error("no shard is given, expected token shards");
    reader_ = std::make_unique<io::ShardReader>(paths_.front());
    header_ = reader_->header();
    tokenizer_files_ = reader_->tokenizer_files();
    // A file that does not fit is better known now than when its turn comes.
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      if (!io::is_pipe(paths_[i])) check(paths_[i], io::ShardReader(paths_[i]));
    }
  }

  Order order() const override { return Order::stream; }
  const io::ShardHeader& header() const override { return header_; }
  const std::vector<io::TokenizerFile>& tokenizer_files() const override { return tokenizer_files_; }
  std::string name() const override { return io::input_name(paths_.front()); }
  Index windows_per_epoch() const override { return 0; }

  std::vector<std::string> digests() const override {
    std::vector<std::string> all = finished_;
    if (reader_) {
      for (const io::ShardTotals& member : reader_->members()) all.push_back(member.sha256);
    }
    return all;
  }

  std::string fingerprint() const override { return sha_.hex(); }

 private:
  void check(const std::string& path, const io::ShardReader& reader) const {
    require_same_header(path, reader.header(), paths_.front(), header_);
  }

  // The next ids of the stream; empty at its end.
  std::span<const Token> read_piece() {
    while (reader_) {
      const auto piece = reader_->next();
      if (!piece.empty()) return piece;
      finished_ = digests();
      reader_.reset();
      if (++path_ < paths_.size()) {
        reader_ = std::make_unique<io::ShardReader>(paths_[path_]);
        check(paths_[path_], *reader_);
      }
    }
    return {};
  }

  // The next window in the order of the stream; it begins with the last id of the one before it.
  bool read_window(std::span<Token> window) {
    std::copy(carried_.begin(), carried_.end(), window.begin());
    std::size_t filled = carried_.size();
    while (filled < window.size()) {
      if (piece_.empty()) piece_ = read_piece();
      if (piece_.empty()) {
        report_rest(filled - carried_.size());
        carried_.assign(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(filled));
        return false;
      }
      const std::size_t count = std::min(piece_.size(), window.size() - filled);
      std::copy_n(piece_.begin(), count, window.begin() + static_cast<std::ptrdiff_t>(filled));
      piece_ = piece_.subspan(count);
      filled += count;
    }
    carried_.assign(1, window.back());
    sha_.update({reinterpret_cast<const char*>(window.data()), window.size_bytes()});
    return true;
  }

  void report_rest(std::size_t ids) {
    if (ended_) return;
    ended_ = true;
    log::detail(name() + ": tokens at the end that fill no window: " + std::to_string(ids));
  }

  std::span<Token> slot(Index index) {
    const auto size = static_cast<std::size_t>(window_size());
    return std::span(buffer_).subspan(static_cast<std::size_t>(index) * size, size);
  }

  void fill() {
    filled_once_ = true;
    while (waiting_ < buffer_windows_) {
      buffer_.resize(static_cast<std::size_t>((waiting_ + 1) * window_size()));
      if (!read_window(slot(waiting_))) break;
      ++waiting_;
    }
    if (waiting_ == 0) {
      throw Error(name() + ": " + std::to_string(carried_.size()) +
                  " tokens do not fill a window, expected at least --context + 1 = " + std::to_string(window_size()));
    }
  }

  bool take(std::span<Token> window) override {
    if (!filled_once_) fill();
    if (waiting_ == 0) return false;
    const auto drawn = static_cast<Index>(rng_.below(static_cast<std::uint64_t>(waiting_)));
    std::ranges::copy(slot(drawn), window.begin());
    if (!ended_ && read_window(slot(drawn))) return true;
    --waiting_;
    std::ranges::copy(slot(waiting_), slot(drawn).begin());
    return true;
  }

  void skip(Index windows) override {
    std::vector<Token> unused(static_cast<std::size_t>(window_size()));
    for (Index i = 0; i < windows; ++i) {
      if (!take(unused)) {
        throw Error(name() + ": ends after " + std::to_string(i) +
                    " windows, expected the data that the training began with: " + std::to_string(windows));
      }
    }
  }

  std::vector<std::string> paths_;
  std::size_t path_ = 0;
  std::unique_ptr<io::ShardReader> reader_;
  io::ShardHeader header_;
  std::vector<io::TokenizerFile> tokenizer_files_;
  std::vector<std::string> finished_;
  std::span<const Token> piece_;
  std::vector<Token> carried_;
  io::Sha256 sha_;
  Rng rng_;
  Index buffer_windows_;
  std::vector<Token> buffer_;
  Index waiting_ = 0;
  bool filled_once_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<WindowSource> open_stream_windows(const std::vector<std::string>& paths, Index context,
                                                  std::uint64_t seed) {
  return std::make_unique<StreamWindows>(paths, context, seed);
}

}  // namespace bam::train
