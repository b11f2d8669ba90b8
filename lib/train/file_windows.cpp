#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "train/windows.h"

namespace bam::train {
namespace {

class FileWindows : public WindowSource {
 public:
  FileWindows(const std::vector<std::string>& paths, Index context, std::uint64_t seed)
      : WindowSource(context), tokens_(paths), seed_(seed), per_epoch_((tokens_.tokens() - 1) / context) {
    if (per_epoch_ < 1) {
      throw Error(tokens_.name() + ": " + std::to_string(tokens_.tokens()) +
                  " tokens do not fill a window, expected at least --context + 1 = " + std::to_string(context + 1));
    }
    log::detail(tokens_.name() +
                ": tokens at the end that fill no window: " + std::to_string((tokens_.tokens() - 1) % context));
  }

  Order order() const override { return Order::global; }
  const io::ShardHeader& header() const override { return tokens_.header(); }
  const std::vector<io::TokenizerFile>& tokenizer_files() const override { return tokens_.tokenizer_files(); }
  std::string name() const override { return tokens_.name(); }
  Index windows_per_epoch() const override { return per_epoch_; }
  std::vector<std::string> digests() const override { return tokens_.digests(); }

  std::string fingerprint() const override {
    io::Sha256 sha;
    for (const std::string& digest : tokens_.digests()) sha.update(digest);
    return sha.hex();
  }

 private:
  bool take(std::span<Token> window) override {
    const Index epoch = at_ / per_epoch_;
    if (!permutation_ || epoch != epoch_) {
      permutation_.emplace(static_cast<std::uint64_t>(per_epoch_),
                           mix64(seed_) ^ mix64(static_cast<std::uint64_t>(epoch) + 1));
      epoch_ = epoch;
    }
    const auto place = static_cast<Index>((*permutation_)(static_cast<std::uint64_t>(at_ % per_epoch_)));
    tokens_.read(place * context(), window);
    ++at_;
    return true;
  }

  void skip(Index windows) override { at_ = windows; }

  TokenFiles tokens_;
  std::uint64_t seed_;
  Index per_epoch_;
  Index at_ = 0;
  std::optional<Permutation> permutation_;
  Index epoch_ = 0;
};

}  // namespace

std::unique_ptr<WindowSource> open_file_windows(const std::vector<std::string>& paths, Index context,
                                                std::uint64_t seed) {
  return std::make_unique<FileWindows>(paths, context, seed);
}

}  // namespace bam::train
