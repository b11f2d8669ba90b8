#include "eval/generate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "text/utf8.h"

namespace bam::eval {
namespace {

// Ids of the prompt that are decoded along, so that a blank in front of the first new word is kept.
constexpr std::size_t kContextIds = 8;

// A character that the ids so far end within decodes to U+FFFD, or is cut: the bytes before it.
std::size_t whole_characters(std::string_view text) {
  constexpr std::string_view kReplacement = "\uFFFD";
  std::size_t end = text.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (wanted > back) end = text.size() - back;
    break;
  }
  while (text.substr(0, end).ends_with(kReplacement)) end -= kReplacement.size();
  return end;
}

// The longest end of `text` that a stop string begins with.
std::size_t held_back(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t longest = 0;
  for (const std::string& stop : stops) {
    for (std::size_t size = std::min(stop.size() - 1, text.size()); size > longest; --size) {
      if (text.ends_with(std::string_view(stop).substr(0, size))) longest = size;
    }
  }
  return longest;
}

}  // namespace

text::Token Sampler::choose(std::span<const double> logits) {
  for (const double logit : logits) {
    if (std::isnan(logit)) throw Error("the model's logits are not numbers: are its weights damaged?");
  }
  if (rule_.temperature == 0) {
    return static_cast<text::Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  candidates_.clear();
  for (std::size_t id = 0; id < logits.size(); ++id) candidates_.push_back({static_cast<text::Token>(id), logits[id]});
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
  };
  const auto wanted = static_cast<std::ptrdiff_t>(rule_.top_k);
  if (wanted > 0 && wanted < std::ssize(candidates_)) {
    std::nth_element(candidates_.begin(), candidates_.begin() + wanted, candidates_.end(), before);
    candidates_.resize(static_cast<std::size_t>(wanted));
  }
  std::sort(candidates_.begin(), candidates_.end(), before);
  const double largest = candidates_.front().weight;
  double total = 0;
  for (Candidate& candidate : candidates_) {
    candidate.weight = candidate.weight == largest ? 1 : std::exp((candidate.weight - largest) / rule_.temperature);
    total += candidate.weight;
  }
  double kept = 0;
  std::size_t count = 0;
  while (count < candidates_.size() && (count == 0 || kept < rule_.top_p * total)) kept += candidates_[count++].weight;
  double place = rng_.uniform() * kept;
  std::size_t chosen = 0;
  while (chosen + 1 < count && place >= candidates_[chosen].weight) place -= candidates_[chosen++].weight;
  return candidates_[chosen].id;
}

TextStream::TextStream(const text::Tokenizer& tokenizer, std::span<const text::Token> prompt,
                       std::vector<std::string> stops)
    : tokenizer_(tokenizer), stops_(std::move(stops)) {
  const std::span<const text::Token> last = prompt.last(std::min(prompt.size(), kContextIds));
  ids_.assign(last.begin(), last.end());
  context_ids_ = ids_.size();
  decoded_ = tokenizer_.decode(ids_).size();
}

std::string TextStream::add(text::Token id) {
  if (is_stopped_) return {};
  ids_.push_back(id);
  const std::string all = tokenizer_.decode(ids_);
  const std::size_t whole = whole_characters(all);
  if (whole > decoded_) {
    pending_ += std::string_view(all).substr(decoded_, whole - decoded_);
    decoded_ = whole;
    // Long continuations are decoded from a few ids back: those before have said all they have to say.
    if (ids_.size() > context_ids_ + 4 * kContextIds && whole == all.size()) {
      ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(kContextIds));
      context_ids_ = ids_.size();
      decoded_ = tokenizer_.decode(ids_).size();
    }
  }
  std::size_t stop = std::string::npos;
  for (const std::string& text : stops_) stop = std::min(stop, pending_.find(text));
  if (stop != std::string::npos) {
    is_stopped_ = true;
    return take(stop);
  }
  return take(pending_.size() - held_back(pending_, stops_));
}

std::string TextStream::end() {
  if (is_stopped_) return {};
  const std::string all = tokenizer_.decode(ids_);
  if (all.size() > decoded_) pending_ += std::string_view(all).substr(decoded_);
  decoded_ = all.size();
  return take(pending_.size());
}

std::string TextStream::take(std::size_t size) {
  std::string text = pending_.substr(0, size);
  pending_.erase(0, size);
  return text;
}

}  // namespace bam::eval
