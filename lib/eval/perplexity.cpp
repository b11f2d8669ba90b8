#include "eval/perplexity.h"

#include <algorithm>

#include "base/error.h"

namespace bam::eval {
namespace {

// Windows read at a time, however large --chunk is: more rows than this make no product faster.
constexpr Index kMostTexts = 256;

// The part of the sequence that the next windows need.
class Sequence {
 public:
  explicit Sequence(TokenSource& source) : source_(source) {}

  // Reads on until ids [first, end) are held or the sequence ends; earlier ones are forgotten.
  void hold(Index first, Index end) {
    if (first > first_) {
      const Index dropped = std::min(first - first_, static_cast<Index>(std::ssize(ids_)));
      ids_.erase(ids_.begin(), ids_.begin() + dropped);
      first_ += dropped;
    }
    const Index held = std::ssize(ids_);
    if (end - first_ <= held) return;
    ids_.resize(static_cast<std::size_t>(end - first_));
    const Index got = source_.read(std::span(ids_).subspan(static_cast<std::size_t>(held)));
    ids_.resize(static_cast<std::size_t>(held + got));
  }

  Index end() const { return first_ + std::ssize(ids_); }
  std::int32_t operator[](Index position) const { return ids_[static_cast<std::size_t>(position - first_)]; }

 private:
  TokenSource& source_;
  Index first_ = 0;
  std::vector<std::int32_t> ids_;
};

// Windows that are read together, padded behind their end: a causal model does not see the padding.
struct WindowBatch {
  Index capacity = 0;
  std::vector<TokenWindow> windows;
  std::vector<Index> numbers;
  Batch rows;

  WindowBatch(Index texts, Index row_tokens) : capacity(row_tokens) {
    rows.windows = texts;
    rows.tokens = row_tokens;
    clear();
  }

  void clear() {
    windows.clear();
    numbers.clear();
    const auto size = static_cast<std::size_t>(rows.windows * capacity);
    rows.ids.assign(size, 0);
    rows.targets.assign(size, kNotScored);
    rows.first_key.assign(size, 0);
  }

  bool is_full() const { return std::ssize(windows) == rows.windows; }

  void add(Index number, const TokenWindow& window, const Sequence& sequence, std::int32_t bos_id) {
    const auto row = windows.size() * static_cast<std::size_t>(capacity);
    const auto inputs = static_cast<std::size_t>(window.end - 1 - window.begin);
    for (std::size_t t = 0; t < inputs; ++t) {
      const Index position = window.begin + static_cast<Index>(t);
      rows.ids[row + t] = sequence[position];
      if (position + 1 >= window.first_scored) rows.targets[row + t] = sequence[position + 1];
    }
    mark_documents(std::span(rows.ids).subspan(row, inputs), bos_id, 0, 0,
                   std::span(rows.first_key).subspan(row, inputs));
    windows.push_back(window);
    numbers.push_back(number);
  }
};

class Evaluation {
 public:
  Evaluation(const LoadedModel& loaded, const PerplexityOptions& options, Index texts)
      : loaded_(loaded), options_(options), batch_(texts, options.rule.context) {
    if (loaded.tokenizer->lossless()) bytes_.emplace(*loaded.tokenizer);
    result_.all = bin(1, options.rule.context);
    const Index width = options.rule.slides() ? 0 : options.bin;
    for (Index from = 1; width > 0 && from <= options.rule.context; from += width) {
      result_.bins.push_back(bin(from, std::min(from + width - 1, options.rule.context)));
    }
    reader_.emplace(*loaded.model, texts, options.rule.context, options.chunk);
  }

  bool is_full() const { return batch_.is_full(); }
  void add(Index number, const TokenWindow& window, const Sequence& sequence) {
    batch_.add(number, window, sequence, loaded_.tokenizer_header.bos_id);
  }

  // `progress` gets the number of ids scored since the evaluation began, now and then.
  void score(const std::function<void(Index)>& progress) {
    if (batch_.windows.empty()) return;
    reader_->truncate(0);
    const Index before = result_.all.nll_nats.count();
    const Index unscored = batch_.windows.front().first_scored - 1 - batch_.windows.front().begin;
    const auto within = [&](Index read) {
      if (progress) progress(before + std::max<Index>(0, read - unscored));
    };
    const auto inputs = static_cast<std::size_t>(batch_.windows.front().end - 1 - batch_.windows.front().begin);
    const Batch& rows = batch_.rows;
    // One text is read to its own end, several to the end of their rows.
    const std::size_t size = rows.windows == 1 ? inputs : rows.ids.size();
    const Scores scores =
        rows.windows == 1 ? read_rest(*reader_, std::span(rows.ids).first(size), std::span(rows.first_key).first(size),
                                      std::span(rows.targets).first(size), within)
                          : reader_->read(rows.ids, rows.first_key, rows.targets);
    result_.skipped += reader_->take_counts();
    for (std::size_t w = 0; w < batch_.windows.size(); ++w) {
      add_scores(batch_.numbers[w], scores, w * static_cast<std::size_t>(batch_.capacity), size);
    }
    batch_.clear();
    if (progress) progress(result_.all.nll_nats.count());
  }

  PerplexityResult& result() { return result_; }

 private:
  PerplexityBin bin(Index from, Index to) const {
    PerplexityBin empty{.from = from, .to = to, .nll_nats = {}, .bytes = {}};
    if (bytes_) empty.bytes = 0;
    return empty;
  }

  // Of the window whose row begins at `row`.
  void add_scores(Index window, const Scores& scores, std::size_t row, std::size_t size) {
    if (result_.bins.empty()) return add(result_.all, keep(window, 0, range(result_.all, scores, row, size)));
    PerplexityItem whole;
    for (std::size_t b = 0; b < result_.bins.size(); ++b) {
      const PerplexityItem item = keep(window, static_cast<Index>(b), range(result_.bins[b], scores, row, size));
      add(result_.bins[b], item);
      whole.add(item);
    }
    add(result_.all, whole);
  }

  PerplexityItem keep(Index window, Index bin, PerplexityItem item) {
    item.window = window;
    item.bin = bin;
    if (options_.keeps_items) result_.items.push_back(item);
    return item;
  }

  PerplexityItem range(const PerplexityBin& bin, const Scores& scores, std::size_t row, std::size_t size) const {
    const Batch& rows = batch_.rows;
    PerplexityItem item;
    if (bytes_) item.bytes = 0;
    const std::size_t end = std::min(row + static_cast<std::size_t>(bin.to), size);
    for (std::size_t i = row + static_cast<std::size_t>(bin.from - 1); i < end; ++i) {
      if (rows.targets[i] == kNotScored) continue;
      item.nll_nats += scores.nll_nats[i];
      ++item.tokens;
      if (bytes_) *item.bytes += (*bytes_)(rows.targets[i], rows.ids[i]);
    }
    return item;
  }

  static void add(PerplexityBin& bin, const PerplexityItem& item) {
    bin.nll_nats.add_group(item.nll_nats, item.tokens);
    if (item.bytes) bin.bytes = bin.bytes.value_or(0) + *item.bytes;
  }

  const LoadedModel& loaded_;
  const PerplexityOptions& options_;
  WindowBatch batch_;
  std::optional<ByteCounts> bytes_;
  std::optional<Reader> reader_;
  PerplexityResult result_;
};

}  // namespace

PerplexityResult evaluate_perplexity(const LoadedModel& loaded, TokenSource& source, const PerplexityOptions& options,
                                     double memory_bytes, const std::function<void(Index)>& progress) {
  const WindowRule& rule = options.rule;
  const Index texts = std::clamp<Index>(options.chunk / rule.context, 1, kMostTexts);
  require_memory(*loaded.model, texts, rule.context, options.chunk, memory_bytes, "--context");
  Evaluation evaluation(loaded, options, texts);
  Sequence sequence(source);
  Index scored_end = 0;
  for (Index k = 0;; ++k) {
    const TokenWindow wanted = rule.at(k);
    sequence.hold(wanted.begin, wanted.end);
    const std::optional<TokenWindow> window = rule.at(k, sequence.end());
    if (!window) break;
    scored_end = window->end;
    if (!options.share.has(k / texts)) continue;
    evaluation.add(k, *window, sequence);
    if (!evaluation.is_full()) continue;
    evaluation.score(progress);
  }
  evaluation.score(progress);
  PerplexityResult& result = evaluation.result();
  if (scored_end == 0) {
    const Index needed = rule.slides() ? 2 : rule.context + 1;
    throw Error(source.name() + ": " + std::to_string(source.tokens()) + " tokens, expected at least " +
                std::to_string(needed) + " (--context " + std::to_string(rule.context) + ")");
  }
  result.left_out = sequence.end() - scored_end;
  return std::move(result);
}

}  // namespace bam::eval
