#include "eval/mcq.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "base/error.h"
#include "base/python_random.h"
#include "eval/python_text.h"

namespace bam::eval {
namespace {

template <typename Size>
Index best(const std::vector<double>& values, const std::vector<std::string>& choices, Size size) {
  std::size_t found = 0;
  const auto value = [&](std::size_t i) { return values[i] / static_cast<double>(size(choices[i])); };
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (value(i) > value(found)) found = i;
  }
  return static_cast<Index>(found);
}

}  // namespace

McqShots::McqShots(McqTask task, Index count, std::vector<McqItem> from, bool from_items, std::uint64_t seed)
    : task_(task), count_(count), from_(std::move(from)), from_items_(from_items), seed_(seed) {}

std::string McqShots::examples(const std::vector<const McqItem*>& chosen) const {
  std::string text;
  for (const McqItem* shot : chosen) {
    text += shot->prompt + " " + shot->choices[static_cast<std::size_t>(shot->gold)] + "\n\n";
  }
  return text;
}

// Copies of the item can fill more than the one place that was drawn for them: the harness then draws again.
std::vector<const McqItem*> McqShots::drawn_without(const McqItem& item, PythonRandom& random) const {
  std::vector<const McqItem*> others;
  for (const McqItem& shot : from_) {
    if (shot != item) others.push_back(&shot);
  }
  std::vector<const McqItem*> chosen;
  if (count_ > std::ssize(others)) return chosen;
  for (const Index i : random.sample(std::ssize(others), count_)) chosen.push_back(others[static_cast<std::size_t>(i)]);
  return chosen;
}

std::vector<std::string> McqShots::prompts(const std::vector<McqItem>& items) const {
  PythonRandom random(seed_);
  std::vector<std::string> prompts;
  // One more, since the item itself may be among them.
  const Index drawn = count_ + (from_items_ ? 1 : 0);
  for (const McqItem& item : items) {
    std::vector<const McqItem*> chosen;
    const auto take = [&](const McqItem& shot) {
      if (std::ssize(chosen) < count_ && !(from_items_ && shot == item)) chosen.push_back(&shot);
    };
    if (task_ == McqTask::mmlu) {
      for (const McqItem& shot : from_) {
        if (shot.subject == item.subject) take(shot);
      }
    } else if (count_ > 0 && drawn <= std::ssize(from_)) {
      for (const Index i : random.sample(std::ssize(from_), drawn)) take(from_[static_cast<std::size_t>(i)]);
      if (std::ssize(chosen) < count_) chosen = drawn_without(item, random);
    }
    if (std::ssize(chosen) < count_) {
      const std::string of = item.subject.empty() ? std::string() : " of " + item.subject;
      throw Error("--shots: " + std::to_string(count_) + " examples" + of + " are asked for and " +
                  std::to_string(task_ == McqTask::mmlu ? std::ssize(chosen) : std::ssize(from_)) + " are there");
    }
    prompts.push_back(mcq_description(task_, item.subject) + examples(chosen) + item.prompt);
  }
  return prompts;
}

McqScorer::Text McqScorer::text_of(const std::string& prompt, const std::string& choice, McqAnswer& answer) const {
  const text::Tokenizer& tokenizer = *loaded_.tokenizer;
  // Blanks at the end of the prompt belong to the choice, whose tokens are those that the whole text has behind the
  // prompt's.
  const std::vector<text::Token> before = tokenizer.encode(strip_end(prompt));
  const std::vector<text::Token> whole = tokenizer.encode(prompt + " " + choice);
  Text text;
  if (uses_bos(options_.bos) || before.empty()) text.ids.push_back(tokenizer.bos_id());
  const std::size_t bos = text.ids.size();
  text.ids.insert(text.ids.end(), whole.begin(), whole.end());
  if (whole.empty()) throw Error("a choice without tokens");
  text.first_scored = bos + std::min(before.size(), whole.size() - 1);
  answer.shares_token =
      answer.shares_token || before.size() >= whole.size() || !std::equal(before.begin(), before.end(), whole.begin());
  if (text.first_scored == 0) {
    text.ids.insert(text.ids.begin(), tokenizer.bos_id());
    text.first_scored = 1;
  }
  const Index most = options_.context + 1;
  if (options_.context > 0 && std::ssize(text.ids) > most) {
    const auto cut = static_cast<std::size_t>(std::ssize(text.ids) - most);
    text.ids.erase(text.ids.begin(), text.ids.begin() + static_cast<std::ptrdiff_t>(cut));
    text.first_scored = std::max<std::size_t>(text.first_scored, cut + 1) - cut;
    answer.cut = std::max(answer.cut, static_cast<Index>(cut));
  }
  return text;
}

Index McqScorer::capacity_for(std::size_t inputs) const {
  const auto capacity = static_cast<Index>(std::bit_ceil(inputs));
  require_memory(*loaded_.model, 1, capacity, options_.chunk, options_.memory_bytes, "the prompt");
  return capacity;
}

void McqScorer::check(const McqItem& item, const std::string& prompt) {
  McqAnswer unused;
  for (const std::string& choice : item.choices) {
    longest_ = std::max(longest_, text_of(prompt, choice, unused).ids.size() - 1);
  }
  capacity_for(longest_);
}

void McqScorer::forget() {
  if (prefix_) prefix_->forget();
}

double McqScorer::score(const Text& text, McqAnswer& answer) {
  const std::span<const text::Token> inputs = std::span(text.ids).first(text.ids.size() - 1);
  if (!prefix_ || prefix_->reader().capacity() < std::ssize(inputs)) {
    prefix_.reset();
    prefix_.emplace(*loaded_.model, capacity_for(std::max(longest_, inputs.size())), options_.chunk);
  }
  std::vector<std::int32_t> targets(inputs.size(), kNotScored);
  std::copy(text.ids.begin() + static_cast<std::ptrdiff_t>(text.first_scored), text.ids.end(),
            targets.begin() + static_cast<std::ptrdiff_t>(text.first_scored - 1));
  const std::vector<std::int32_t> first_key(inputs.size(), 0);
  prefix_->begin(inputs, static_cast<Index>(text.first_scored) - 1);
  const Scores scores = read_rest(prefix_->reader(), inputs, first_key, targets);
  answer.read += std::ssize(inputs);
  answer.skipped += prefix_->reader().take_counts();
  double sum = 0;
  for (const double nll : scores.nll_nats) sum -= nll;
  return sum;
}

McqAnswer McqScorer::answer(const McqItem& item, const std::string& prompt) {
  const double start_s = now_s();
  McqAnswer answer;
  for (const std::string& choice : item.choices) {
    answer.log_likelihoods.push_back(score(text_of(prompt, choice, answer), answer));
  }
  const std::vector<double>& sums = answer.log_likelihoods;
  answer.by_sum = best(sums, item.choices, [](const std::string&) { return 1; });
  answer.by_characters = best(sums, item.choices, [](const std::string& choice) { return characters(choice); });
  answer.by_bytes = best(sums, item.choices, [](const std::string& choice) { return choice.size(); });
  answer.is_tied = std::count(sums.begin(), sums.end(), sums[static_cast<std::size_t>(answer.by_sum)]) > 1;
  answer.seconds = now_s() - start_s;
  return answer;
}

}  // namespace bam::eval
