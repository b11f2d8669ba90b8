#include "eval/passkey_words.h"

#include <array>
#include <cctype>

namespace bam::eval::words {
namespace {

using Table = std::span<const std::string_view>;

constexpr std::string_view kHeadings[] = {
    "One number in these lines matters. It is asked for at the end.",
    "Read the lines below. A question about one number comes last.",
    "Most of what stands here is of no use. Keep the one number that is.",
    "Somewhere below a number is given.",
    "Look for a number in this text, and answer when it is over.",
    "Here is a long note. Watch for the number in it.",
};

constexpr std::string_view kNeedles[] = {
    "The {n} is {k}.",
    "The {n} is {k}. Write it down. {k} is the {n}.",
    "Note: the {n} is {k}. Keep {k} in mind.",
    "By the way, the {n} is {k}.",
    "The {n} is {k}, and nothing but {k}.",
    "Here is the {n}: it is {k}. So the {n} is {k}.",
    "{k} is the {n}. Once more, the {n} is {k}.",
};

constexpr std::string_view kQuestions[] = {
    "What is the {n}? The {n} is",  "Which number is the {n}? The {n} is", "Do you know the {n}? It is",
    "Now the question: the {n} is", "Tell me the {n}. The {n} is",
};

constexpr std::string_view kOpenings[] = {"Now again:", "Asked back:", "From the list:", "So:", "Then:"};
constexpr std::string_view kRepeats[] = {"Again:", "Once more:", "The same:", "Copy:", "Repeat:"};

constexpr std::string_view kFirst[] = {
    "harbour", "garden", "kitchen", "library", "station", "mountain", "tower",  "bridge", "winter",   "summer",
    "silver",  "copper", "iron",    "secret",  "second",  "third",    "last",   "first",  "northern", "southern",
    "little",  "great",  "old",     "new",     "blue",    "red",      "white",  "black",  "ship",     "school",
    "market",  "office", "factory", "guest",   "cellar",  "main",     "private"};

constexpr std::string_view kSecond[] = {"code",   "number", "mark",  "label", "figure", "entry",  "ticket", "badge",
                                        "cipher", "value",  "count", "seal",  "line",   "record", "sign"};

constexpr std::string_view kNouns[] = {
    "river", "mill",  "house",  "boat",    "window", "field", "horse", "letter", "lamp",  "stone",  "tree",   "road",
    "child", "baker", "sailor", "clock",   "table",  "cloud", "door",  "bird",   "fire",  "song",   "coat",   "wheel",
    "wall",  "glass", "paper",  "teacher", "farmer", "dog",   "cat",   "apple",  "chair", "island", "forest", "train",
    "shop",  "cup",   "rope",   "bell",    "storm",  "hill",  "plate", "basket", "king",  "spoon"};

constexpr std::string_view kVerbs[] = {"sees",  "finds", "leaves", "holds", "hears",  "passes", "meets",
                                       "likes", "takes", "brings", "wants", "covers", "turns",  "keeps"};

constexpr std::string_view kAdjectives[] = {"small", "heavy", "bright", "quiet", "round", "warm", "cold",  "empty",
                                            "full",  "near",  "broken", "clean", "dark",  "tall", "early", "slow"};

constexpr std::string_view kAsides[] = {"It goes on like this.", "Nothing else happened.",   "Then it was late.",
                                        "So it went.",           "They said no more of it.", "All was well."};

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

bool one_in(Rng& rng, std::uint64_t n) {
  return rng.below(n) == 0;
}

}  // namespace

Table headings() {
  return kHeadings;
}
Table needles() {
  return kNeedles;
}
Table questions() {
  return kQuestions;
}
Table openings() {
  return kOpenings;
}
Table repeats() {
  return kRepeats;
}

std::string_view pick(Rng& rng, Table from) {
  return from[rng.below(from.size())];
}

std::string name(Rng& rng) {
  const std::string first(pick(rng, kFirst));
  return first + " " + std::string(pick(rng, kSecond));
}

std::string noun(Rng& rng) {
  return std::string(pick(rng, kNouns));
}

std::string sentence(Rng& rng) {
  if (one_in(rng, 8)) return std::string(pick(rng, kAsides));
  std::string text(one_in(rng, 3) ? "A" : "The");
  const auto add = [&](std::string_view word) { text.append(" ").append(word); };
  if (one_in(rng, 3)) add(pick(rng, kAdjectives));
  add(pick(rng, kNouns));
  if (one_in(rng, 2)) {
    add("is");
    add(pick(rng, kAdjectives));
  } else {
    add(pick(rng, kVerbs));
    add(one_in(rng, 2) ? "the" : "a");
    add(pick(rng, kNouns));
  }
  return text.append(".");
}

std::string digits(Rng& rng, Index count) {
  std::string text;
  while (static_cast<Index>(text.size()) < count) text += static_cast<char>('0' + rng.below(10));
  return text;
}

std::string key(Rng& rng) {
  std::string text = digits(rng, static_cast<Index>(3 + rng.below(6)));
  if (rng.below(10) < 6) {
    const std::string few = digits(rng, static_cast<Index>(2 + rng.below(2)));
    for (char& c : text) c = few[rng.below(few.size())];
  }
  if (text[0] == '0') text[0] = static_cast<char>('1' + rng.below(9));
  return text;
}

std::string fill(std::string_view form, const std::string& name, const std::string& key) {
  std::string text;
  for (std::size_t i = 0; i < form.size();) {
    const std::string_view rest = form.substr(i);
    const bool named = rest.starts_with("{n}");
    if (named || rest.starts_with("{k}")) {
      text += named ? name : key;
      i += 3;
    } else {
      text += form[i++];
    }
  }
  return capital(std::move(text));
}

}  // namespace bam::eval::words
