#include "train/ranks.h"

#include <algorithm>
#include <new>

#include "base/error.h"
#include "dist/shared_error.h"
#include "io/sha256.h"

namespace bam::train {
namespace {

// 4 MiB: a smaller bucket would spend its time on latency, a larger one would begin late.
constexpr Index kBucketElements = Index{1} << 20;

template <typename T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

// The first rank that says no, or -1.
int first_without(dist::Communicator& ranks, bool here) {
  const double own = here ? 1 : 0;
  const std::vector<double> all = ranks.gather_all({&own, 1});
  const auto found = std::ranges::find(all, 0.0);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

void send_batch(dist::Communicator& ranks, Batch batch, int to) {
  ranks.send(bytes_of(batch.ids), to);
  ranks.send(bytes_of(batch.targets), to);
  ranks.send(bytes_of(batch.first_key), to);
}

Batch receive_batch(dist::Communicator& ranks, Index windows, Index tokens) {
  const auto count = static_cast<std::size_t>(windows * tokens);
  Batch batch{windows, tokens, std::vector<std::int32_t>(count), std::vector<std::int32_t>(count),
              std::vector<std::int32_t>(count)};
  ranks.receive(bytes_of(batch.ids), 0);
  ranks.receive(bytes_of(batch.targets), 0);
  ranks.receive(bytes_of(batch.first_key), 0);
  return batch;
}

}  // namespace

void together(dist::Communicator& ranks, const std::function<void()>& work) {
  std::string message;
  auto status = ExitStatus::ok;
  try {
    work();
  } catch (const Error& error) {
    if (ranks.size() == 1) throw;
    message = error.what();
    status = error.status;
  } catch (const std::bad_alloc&) {
    if (ranks.size() == 1) throw;
    message = "out of memory";
    status = ExitStatus::failed;
  }
  const int failed = first_without(ranks, status == ExitStatus::ok);
  if (failed < 0) return;
  if (failed > 0) message.insert(0, "rank " + std::to_string(failed) + ": ");
  ranks.broadcast(message, failed);
  const auto own = static_cast<double>(status);
  const double told = ranks.gather_all({&own, 1})[static_cast<std::size_t>(failed)];
  throw dist::SharedError(message, static_cast<ExitStatus>(static_cast<int>(told)));
}

void require_same(dist::Communicator& ranks, const std::string& text, const std::string& what) {
  std::string digest = io::sha256_hex(text);
  const std::string own = digest;
  ranks.broadcast(digest, 0);
  const int other = first_without(ranks, digest == own);
  if (other < 0) return;
  throw dist::SharedError("rank " + std::to_string(other) + ": " + what +
                          " are not those of rank 0, expected the same on all");
}

bool on_any(dist::Communicator& ranks, bool here) {
  const double own = here ? 1 : 0;
  const std::vector<double> all = ranks.gather_all({&own, 1});
  return std::ranges::any_of(all, [](double there) { return there != 0; });
}

Share share_out(dist::Communicator& ranks, const Batch& whole) {
  const double sizes[] = {static_cast<double>(whole.windows), static_cast<double>(whole.tokens)};
  const std::vector<double> all = ranks.gather_all(sizes);
  Share share;
  share.windows = static_cast<Index>(all[0]);
  if (share.windows <= 0) return share;
  const auto tokens = static_cast<Index>(all[1]);
  const Index each = share.windows / ranks.size();
  const Index more = share.windows % ranks.size();
  const auto first_of = [&](int rank) { return rank * each + std::min<Index>(rank, more); };
  const auto count_of = [&](int rank) { return first_of(rank + 1) - first_of(rank); };
  if (!ranks.is_root()) {
    share.own = receive_batch(ranks, count_of(ranks.rank()), tokens);
    return share;
  }
  for (int rank = 1; rank < ranks.size(); ++rank) {
    send_batch(ranks, slice(whole, first_of(rank), count_of(rank)), rank);
  }
  share.own = ranks.size() == 1 ? whole : slice(whole, 0, count_of(0));
  return share;
}

GradientSum::GradientSum(dist::Communicator& ranks, const ParameterSet& gradients)
    : ranks_(ranks), arena_(gradients.all()) {
  Index end = arena_.count();
  for (std::size_t i = gradients.infos().size(); i-- > 0;) {
    const ParameterInfo& info = gradients.infos()[i];
    if (info.offset == kNotHeld) continue;
    if (info.offset > 0 && end - info.offset >= kBucketElements) {
      bucket_begins_.push_back(info.offset);
      end = info.offset;
    }
  }
  bucket_begins_.push_back(0);
  for (Index layer = 0;; ++layer) {
    const std::string prefix = "layers/" + std::to_string(layer) + "/";
    Index begin = arena_.count();
    bool exists = false;
    for (const ParameterInfo& info : gradients.infos()) {
      if (!info.name.starts_with(prefix)) continue;
      exists = true;
      if (info.offset != kNotHeld) begin = std::min(begin, info.offset);
    }
    if (!exists) break;
    layer_begins_.push_back(begin);
  }
  const ParameterInfo& last = gradients.infos().back();
  const auto& norm = *std::ranges::find(gradients.infos(), "final_norm", &ParameterInfo::name);
  layer_begins_.push_back(norm.offset != kNotHeld   ? norm.offset
                          : last.offset != kNotHeld ? last.offset
                                                    : arena_.count());
}

void GradientSum::layer_done(Index layer) {
  if (ranks_.size() == 1) return;
  const Index complete_from = layer < 0 ? 0 : layer_begins_[static_cast<std::size_t>(layer)];
  for (; next_ < bucket_begins_.size() && bucket_begins_[next_] >= complete_from; ++next_) {
    const Index begin = bucket_begins_[next_];
    const Index end = next_ == 0 ? arena_.count() : bucket_begins_[next_ - 1];
    ranks_.start_sum(rows(arena_, begin, end - begin));
  }
  ranks_.progress();
}

void GradientSum::finish() {
  layer_done(-1);
  ranks_.finish();
}

}  // namespace bam::train
