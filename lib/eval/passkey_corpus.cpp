#include "eval/passkey_corpus.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "eval/passkey_wording.h"
#include "eval/passkey_words.h"
#include "io/json.h"
#include "text/utf8.h"

namespace bam::eval {
namespace {

constexpr std::array kKinds = {CorpusKind::passkey, CorpusKind::list, CorpusKind::copy};
constexpr std::array kShares = {0.50, 0.36, 0.14};
constexpr std::array<const char*, 4> kKindNames = {"passkey", "list", "copy", "text"};
constexpr Index kShortest = 16;  // tokens; a shorter rest of a window is filled with text

std::size_t index_of(CorpusKind kind) {
  return static_cast<std::size_t>(kind);
}

void append(std::string& text, std::string_view between, std::string_view more) {
  if (!text.empty()) text += between;
  text += more;
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string all;
  for (const std::string& part : parts) {
    if (!part.empty()) append(all, between, part);
  }
  return all;
}

// Without blanks around it and without half a character at its end.
std::string trimmed(std::string text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) >= 0x80 || text.back() <= ' ')) text.pop_back();
  const std::size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? "" : text.substr(first);
}

bool one_in(Rng& rng, std::uint64_t n) {
  return rng.below(n) == 0;
}

Index between(Rng& rng, Index low, Index high) {
  return low >= high ? high : low + static_cast<Index>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

}  // namespace

std::string corpus_line(const CorpusDocument& document) {
  io::JsonWriter json;
  json.begin_object()
      .field("text", document.text)
      .field("kind", kKindNames[index_of(document.kind)])
      .field("tokens", document.tokens);
  if (document.kind == CorpusKind::passkey) json.field("key", document.key).field("exact", document.exact);
  return json.end_object().text();
}

PasskeyCorpus::PasskeyCorpus(const text::Tokenizer& tokenizer, CorpusTask task)
    : tokenizer_(tokenizer),
      task_(std::move(task)),
      rng_(task_.seed, 0x636f7270),
      overhead_(tokenizer.eos_id() ? 2 : 1) {
  const std::string sample(kPasskeyFiller);
  bytes_per_token_ = static_cast<double>(sample.size()) / static_cast<double>(tokenizer.encode(sample).size());
  const std::string name = task_.exact_share > 0 ? "pass key" : "mountain number";
  const std::string line = task_.exact_share > 0 ? passkey_line("99999999") : "The " + name + " is 99999999.";
  const Index least = count(line + " What is the " + name + "? The " + name + " is 99999999.");
  if (task_.max_tokens < least) {
    throw UsageError("--max-tokens: " + std::to_string(task_.max_tokens) + " tokens are too few, expected at least " +
                     std::to_string(least));
  }
}

CorpusDocument PasskeyCorpus::next() {
  if (window_.empty()) {
    window_ = make_window();
    std::reverse(window_.begin(), window_.end());
  }
  CorpusDocument document = std::move(window_.back());
  window_.pop_back();
  return document;
}

// Enough for so many tokens of plain sentences, most of the time: filler that ends early does no harm.
std::size_t PasskeyCorpus::bytes_of(Index tokens) const {
  return static_cast<std::size_t>(1.2 * bytes_per_token_ * static_cast<double>(tokens)) + 16;
}

Index PasskeyCorpus::count(const std::string& text) const {
  return std::ssize(tokenizer_.encode(text)) + overhead_;
}

// From the beginning of a word.
std::string PasskeyCorpus::ordinary_text(std::size_t bytes) {
  const std::string& all = task_.filler_text;
  std::size_t at = all.size() <= bytes ? 0 : rng_.below(all.size() - bytes);
  if (at > 0) at = std::min(all.find_first_of(" \n", at), all.size());
  std::string text;
  for (const char c : all.substr(at, bytes)) {
    const bool blank = c == '\n' || c == ' ';
    if (blank && (text.empty() || text.back() == ' ')) continue;
    text += blank ? ' ' : c;
  }
  return text;
}

PasskeyCorpus::Source PasskeyCorpus::draw_source(Index tokens) {
  Source source;
  const std::uint64_t style = rng_.below(4);
  source.whole_sentences = one_in(rng_, 2);
  source.begins_anew = style < 2;
  std::string text;
  const std::size_t enough = bytes_of(tokens);
  if (style == 2 && !task_.filler_text.empty()) {
    text = ordinary_text(enough);
  } else {
    std::vector<std::string> group(static_cast<std::size_t>(between(rng_, 1, 6)));
    for (std::string& sentence : group) sentence = words::sentence(rng_);
    const std::string all = joined(group, " ");
    while (text.size() < enough) append(text, " ", source.begins_anew ? all : words::sentence(rng_));
  }
  source.ids = tokenizer_.encode(text);
  return source;
}

std::string PasskeyCorpus::cut(Source& source, Index tokens) const {
  if (source.begins_anew) source.at = 0;
  const std::size_t left = source.ids.size() - source.at;
  const std::size_t size = std::min(left, static_cast<std::size_t>(std::max<Index>(0, tokens)));
  std::string text = trimmed(tokenizer_.decode(std::span(source.ids).subspan(source.at, size)));
  source.at += size;
  if (!source.whole_sentences) return text;
  const std::size_t end = text.rfind('.');
  return end == std::string::npos ? "" : text.substr(0, end + 1);
}

PasskeyCorpus::PasskeyParts PasskeyCorpus::draw_parts(const std::string& key, bool exact) {
  PasskeyParts parts;
  parts.between.assign(1, !exact && one_in(rng_, 5) ? '\n' : ' ');
  if (exact) {
    parts.heading = kPasskeyDescription;
    parts.line = passkey_line(key);
    parts.question = kPasskeyQuestion;
    parts.answer = key;
    return parts;
  }
  const std::string name = words::name(rng_);
  if (rng_.below(10) < 4) parts.heading = words::pick(rng_, words::headings());
  parts.line = words::fill(words::pick(rng_, words::needles()), name, key);
  parts.question = words::fill(words::pick(rng_, words::questions()), name, key);
  parts.answer = key + ".";
  if (rng_.below(10) < 3) {
    std::string other = name;
    while (other == name) other = words::name(rng_);
    const std::string other_key = words::key(rng_);
    parts.other_line = words::fill(words::pick(rng_, words::needles()), other, other_key);
    parts.other_first = one_in(rng_, 2);
    parts.other_question = words::fill(words::pick(rng_, words::questions()), other, other_key) + " " + other_key + ".";
  }
  return parts;
}

// Leaves out what does not fit, and fills the gaps before, between and behind the lines up to `size` tokens.
std::optional<std::string> PasskeyCorpus::compose(PasskeyParts parts, Source& source, Index size) {
  const auto assemble = [&](const std::vector<std::string>& gaps) {
    const std::string& first = parts.other_first ? parts.other_line : parts.line;
    const std::string& second = parts.other_first ? parts.line : parts.other_line;
    return joined({parts.heading, gaps[0], first, gaps[1], second, gaps[2], parts.question + " " + parts.answer,
                   parts.other_question},
                  parts.between);
  };
  const std::vector<std::string> no_gaps(3);
  Index least = count(assemble(no_gaps));
  for (std::string* optional : {&parts.other_question, &parts.other_line, &parts.heading}) {
    if (least <= size) break;
    optional->clear();
    least = count(assemble(no_gaps));
  }
  Index room = size - least;
  if (room < 0) return std::nullopt;
  for (int attempt = 0; attempt < 4 && room > 0; ++attempt) {
    Index cuts[] = {between(rng_, 0, room), between(rng_, 0, room)};
    if (cuts[0] > cuts[1]) std::swap(cuts[0], cuts[1]);
    if (parts.other_line.empty()) cuts[1] = cuts[0];
    source.at = 0;
    std::vector<std::string> gaps;
    for (const Index tokens : {cuts[0], cuts[1] - cuts[0], room - cuts[1]}) gaps.push_back(cut(source, tokens));
    std::string text = assemble(gaps);
    const Index over = count(text) - size;
    if (over <= 0) return text;
    room -= over;
  }
  return assemble(no_gaps);
}

CorpusDocument PasskeyCorpus::make_passkey(Index size) {
  CorpusDocument document{.kind = CorpusKind::passkey, .text = {}, .key = words::key(rng_)};
  document.exact = rng_.uniform() < task_.exact_share;
  Source source = draw_source(size);
  if (document.exact) {
    document.key = std::to_string(between(rng_, 10000, 99999));
    std::string text;
    while (text.size() < bytes_of(size)) append(text, " ", kPasskeyFiller);
    source = {.ids = tokenizer_.encode(text), .begins_anew = true, .whole_sentences = true};
  }
  document.text = compose(draw_parts(document.key, document.exact), source, size).value_or("");
  return document;
}

CorpusDocument PasskeyCorpus::make_list(Index size) {
  static constexpr std::array<std::string_view, 4> kTies = {" is ", ": ", " = ", " "};
  static constexpr std::array<std::string_view, 3> kEnds = {",", ";", "."};
  const std::string tie(words::pick(rng_, kTies));
  const std::string end(words::pick(rng_, kEnds));
  const bool long_names = one_in(rng_, 2);
  const bool questions = one_in(rng_, 3);
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto draw_pair = [&] {
    std::string name = long_names ? words::name(rng_) : words::noun(rng_);
    const bool known = std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
    if (!known) pairs.emplace_back(std::move(name), words::digits(rng_, between(rng_, 2, 6)));
  };
  draw_pair();
  const auto item = [&](std::size_t i) { return pairs[i].first + tie + pairs[i].second; };
  const Index most = size / (2 * (count(item(0) + end) - overhead_)) - 1;
  for (Index i = between(rng_, most / 2, std::min<Index>(most, 30)); i > 1; --i) draw_pair();

  std::string text;
  for (std::size_t i = 0; i < pairs.size(); ++i) append(text, end + " ", item(i));
  text += ".";
  if (one_in(rng_, 2)) append(text, " ", words::pick(rng_, words::openings()));
  Index used = count(text);
  for (bool asked = false;; asked = true) {
    const std::size_t i = rng_.below(pairs.size());
    std::string more(" ");
    if (questions) {
      more += words::fill(words::pick(rng_, words::questions()), pairs[i].first, "");
      more += " " + pairs[i].second + ".";
    } else {
      more += item(i) + end;
    }
    used += count(more) - overhead_;
    if (used > size) {
      if (!asked) text.clear();
      break;
    }
    text += more;
  }
  return {.kind = CorpusKind::list, .text = text, .key = {}};
}

CorpusDocument PasskeyCorpus::make_copy(Index size) {
  const std::string between_both = std::string(" ").append(words::pick(rng_, words::repeats())).append(" ");
  const Index most = (size - count(between_both)) / 2;
  Source source = draw_source(size);
  source.whole_sentences = false;
  if (one_in(rng_, 2)) {
    std::string text;
    while (text.size() < bytes_of(size)) {
      append(text, " ", one_in(rng_, 3) ? words::digits(rng_, between(rng_, 1, 4)) : words::noun(rng_));
    }
    source.ids = tokenizer_.encode(text);
  }
  const std::string span = cut(source, between(rng_, most / 2, most));
  return {.kind = CorpusKind::copy, .text = span.empty() ? "" : span + between_both + span, .key = {}};
}

// Of exactly `size` tokens, or of none: the ids of a part of a text need not be a part of the ids of the text.
CorpusDocument PasskeyCorpus::make_text(Index size) {
  CorpusDocument document{.kind = CorpusKind::text, .text = {}, .key = {}};
  if (size <= overhead_) return document;
  Source source = draw_source(4 * size);
  const auto part = static_cast<std::size_t>(size - overhead_);
  for (std::size_t at = 0; at + part <= source.ids.size() && at < 20; ++at) {
    document.text = tokenizer_.decode(std::span(source.ids).subspan(at, part));
    if (count(document.text) == size) break;
    document.text.clear();
  }
  return document;
}

CorpusDocument PasskeyCorpus::make(CorpusKind kind, Index room) {
  Index size = between(rng_, kShortest, room);
  if (room - size < kShortest) size = room;
  CorpusDocument document;
  switch (kind) {
    case CorpusKind::passkey:
      document = make_passkey(size);
      break;
    case CorpusKind::list:
      document = make_list(size);
      break;
    case CorpusKind::copy:
      document = make_copy(size);
      break;
    case CorpusKind::text:
      document = make_text(room);
      break;
  }
  const bool repeats = !document.exact && repeats_passkey_wording(document.text);
  const bool usable = !document.text.empty() && !repeats && text::is_utf8(document.text);
  document.tokens = usable ? count(document.text) : 0;
  if (document.tokens > room) document.tokens = 0;
  return document;
}

// Of the kind that is furthest behind its share, else of the next one that fits.
CorpusDocument PasskeyCorpus::make_next(Index room) {
  std::array<std::size_t, 3> order = {0, 1, 2};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return written_[a] / kShares[a] < written_[b] / kShares[b]; });
  for (const std::size_t i : order) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      CorpusDocument document = make(kKinds[i], room);
      if (document.tokens > 0) return document;
    }
  }
  return {};
}

std::vector<CorpusDocument> PasskeyCorpus::make_window() {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    const std::array<double, 3> before = written_;
    std::vector<CorpusDocument> documents;
    Index room = task_.max_tokens;
    while (room >= kShortest) {
      CorpusDocument document = make_next(room);
      if (document.tokens == 0) break;
      room -= document.tokens;
      written_[index_of(document.kind)] += static_cast<double>(document.tokens);
      documents.push_back(std::move(document));
    }
    if (room > 0) {
      CorpusDocument rest = make(CorpusKind::text, room);
      if (rest.tokens == room) {
        room = 0;
        documents.push_back(std::move(rest));
      }
    }
    // A tokenizer that never gives the right number of tokens has windows that end early.
    if (room == 0 || (attempt >= kAttempts && !documents.empty())) return documents;
    written_ = before;
    if (attempt > 2 * kAttempts) throw Error("--max-tokens: no documents were found that fill a window");
  }
}

}  // namespace bam::eval
