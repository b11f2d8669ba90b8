#include "train/windows.h"

#include <algorithm>

#include "base/error.h"

namespace bam::train {

const NameTable<Order>& order_names() {
  static const NameTable<Order> table = {{"global", Order::global}, {"stream", Order::stream}};
  return table;
}

Index WindowSource::next(std::span<Token> ids) {
  const auto size = static_cast<std::size_t>(window_size());
  Index taken = 0;
  for (; ids.size() >= size && take(ids.first(size)); ids = ids.subspan(size)) ++taken;
  consumed_ += taken;
  return taken;
}

void WindowSource::resume(Index consumed, const std::string& wanted) {
  skip(consumed);
  consumed_ = consumed;
  if (fingerprint() != wanted) {
    throw Error(name() + ": not the data that the training began with, expected the same shards in the same order");
  }
}

Batch make_batch(std::span<const Token> ids, Index context, const Targets& targets) {
  Batch batch;
  batch.tokens = context;
  batch.windows = std::ssize(ids) / (context + 1);
  const auto n = static_cast<std::size_t>(context);
  batch.ids.reserve(static_cast<std::size_t>(batch.windows) * n);
  batch.targets.reserve(batch.ids.capacity());
  batch.first_key.resize(batch.ids.capacity());
  for (Index w = 0; w < batch.windows; ++w) {
    const auto window = ids.subspan(static_cast<std::size_t>(w) * (n + 1), n + 1);
    batch.ids.insert(batch.ids.end(), window.begin(), window.end() - 1);
    for (const Token target : window.subspan(1)) {
      const bool crosses = target == targets.bos_id;
      batch.targets.push_back(crosses && !targets.across_borders ? kNotScored : target);
    }
    const auto row = static_cast<std::size_t>(w) * n;
    mark_documents(window.first(n), targets.bos_id, 0, 0, std::span(batch.first_key).subspan(row, n));
  }
  return batch;
}

Batch slice(const Batch& batch, Index first, Index windows) {
  const auto part = [&](const std::vector<std::int32_t>& all) {
    return std::vector<std::int32_t>(all.begin() + first * batch.tokens,
                                     all.begin() + (first + windows) * batch.tokens);
  };
  return {windows, batch.tokens, part(batch.ids), part(batch.targets), part(batch.first_key)};
}

ValidationWindows::ValidationWindows(TokenFiles& tokens, Index context, const Targets& targets)
    : tokens_(tokens), context_(context), targets_(targets), windows_((tokens.tokens() - 1 + context - 1) / context) {
  if (tokens.tokens() < 2) throw Error(tokens.name() + ": no token to predict, expected at least two tokens");
}

Batch ValidationWindows::batch(Index first, Index windows) const {
  const Index size = context_ + 1;
  std::vector<Token> ids(static_cast<std::size_t>(windows * size), targets_.bos_id);
  Index missing = 0;
  for (Index w = 0; w < windows; ++w) {
    const Index begin = (first + w) * context_;
    const Index count = std::min(size, tokens_.tokens() - begin);
    missing = size - count;
    tokens_.read(begin, std::span(ids).subspan(static_cast<std::size_t>(w * size), static_cast<std::size_t>(count)));
  }
  Batch batch = make_batch(ids, context_, targets_);
  std::fill(batch.targets.end() - missing, batch.targets.end(), kNotScored);
  return batch;
}

}  // namespace bam::train
